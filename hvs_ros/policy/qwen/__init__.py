"""Qwen2.5-VL outside its network, in numpy: tokens, pixels, positions and the choice of the next token.

torch and ONNX Runtime use the same code, so that they are given the same numbers. Nothing here needs torch.
"""
