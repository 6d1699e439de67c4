"""VeriSim tasks: does a medical language model still find the diagnosis when patients talk like real patients?"""

__version__ = "0.1.0"
