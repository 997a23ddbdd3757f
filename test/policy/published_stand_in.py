"""A prompt module with the interface of the published environment's, in words of the tests' own.

It stands for the user's checkout: ``write(folder)`` puts it where it lies there.
"""

from __future__ import annotations

from pathlib import Path

PROMPT = '''
import random

FORMS = {"free_think": "<think>...</think><answer>...</answer>", "no_think": "<answer>...</answer>",
         "grounding": "<think><observation>...</observation><reasoning>...</reasoning></think><answer>...</answer>"}

def system_prompt(**kwargs):
    return f"SYSTEM {kwargs.get('format')} {'path' if kwargs.get('is_nav') else 'object'}"

def init_observation_template(**kwargs):
    return f"FIRST\\n{kwargs['observation']}\\nTask: {kwargs['instruction']}"

def action_template(**kwargs):
    return f"TAKEN {kwargs['valid_action']}\\nSAID {kwargs['env_feedback']}\\nover: {kwargs['done']}\\n" + \\
        f"{kwargs['observation']}\\nTask: {kwargs['instruction']}"

def form(kind):
    def text(**kwargs):
        example = " for example" if kwargs.get("add_example", True) else ""
        return f"{kwargs.get('max_actions_per_step', 1)} action as {FORMS[kind]}{example}"
    return text

format_prompt = {kind: form(kind) for kind in FORMS}
'''

ENVIRONMENT = '''
import a_training_stack_that_is_not_installed

class Environment:
    def step(self, info, valid):
        info["env_feedback"] = f"Went to <{self.yaw};{self.pitch}>" if valid["action"] else "Did not go."
'''


def write(folder: Path, *, environment: bool = True) -> Path:
    """Write the module and return its path."""
    place = folder / "vagen" / "env" / "hstar"
    place.mkdir(parents=True)
    (place / "prompt.py").write_text(PROMPT)
    if environment:
        (place / "env.py").write_text(ENVIRONMENT)
    return place / "prompt.py"
