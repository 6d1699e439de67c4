"""The consultation loop: doctor and patient take turns until the doctor concludes.

``engine`` is the pure core and knows nothing of lm-eval; ``channel`` and ``model`` let any lm-eval model play the
doctor; ``request`` hangs the loop on lm-eval as the request type ``consult``.
"""
