"""The lm-eval tasks: which consultations a task name stands for, and how their scores reach lm-eval's tables."""
