"""Qwen2.5-VL in ONNX: export (needs torch), and what runs the export with numpy, ONNX Runtime and tokenizers alone."""
