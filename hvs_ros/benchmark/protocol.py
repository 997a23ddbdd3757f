"""How the benchmark is run: what the paper says, and what the published code does where that is something else.

A success rate means something only beside others that were found in the same way, so whatever changes it is fixed by a
protocol, and each departure from it is named in the results and below the table.

``paper``
    The paper's text: exact pinhole views, its rule of success (the pitch of an object always counts), a window of whole
    turns whose oldest message speaks of nothing that is not there.
``reference``
    The published code: its sampling, its rule (a yaw interval that crosses 0 skips the pitch), its window, no stop
    string, and its own words, which are not part of this package: they come from the user's checkout of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hvs_ros.benchmark.dataset import PUBLISHED_SEED
from hvs_ros.benchmark.settings import RunSettings, installed_versions
from hvs_ros.panorama.camera import EVALUATION, Camera
from hvs_ros.panorama.view import Sampling
from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.model_settings import Thought
from hvs_ros.policy.prompt_sets import PUBLISHED, load_prompts
from hvs_ros.policy.published_feedback import OWN
from hvs_ros.policy.registry import policy_settings
from hvs_ros.search.scoring import ScoringMode
from hvs_ros.search.task import DEFAULT_MAX_TURNS

PUBLISHED_PROMPTS_SHA256 = "afae2d60ae239d1d4727a2c2037439fa40359948030a7783c6e894edcbe49215"
"""Of the published prompt.py, which has not changed since its first version."""


class ProtocolError(PolicyError):
    """A protocol cannot be kept with what was given; the message says what is missing."""


@dataclass(frozen=True)
class Protocol:
    """One way to run the benchmark.

    Attributes:
        name: "paper" or "reference".
        about: it, in a line.
        sampling: how views are made.
        scoring: which rule of success counts.
        model: settings of policies with a model (``ModelSettings``) that it fixes.
        published_prompts: a model is asked in the published words.
        notes: where even this protocol cannot be, or is not, what it stands for.
        camera: of the views.
        max_turns: of a search.
    """

    name: str
    about: str
    sampling: Sampling
    scoring: ScoringMode
    model: Mapping[str, Any]
    published_prompts: bool = False
    notes: tuple[str, ...] = ()
    camera: Camera = field(default=EVALUATION)
    max_turns: int = DEFAULT_MAX_TURNS

    def policy_settings(self, policy: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return what was given, and for what else the protocol fixes its values, where the policy asks a model.

        Args:
            policy: its name.
            given: the settings that the user named.

        Raises:
            ProtocolError: the policy needs the published prompts, and neither they nor others were named.
            PolicyError: there is no such policy.
            PolicyUnavailableError: it cannot be imported.
        """
        if not self._fixes(policy_settings(policy)):
            return dict(given)
        if self.published_prompts and "prompts" not in given:
            raise ProtocolError(
                f"protocol '{self.name}' asks a model in the published words, which do not come with this package: give"
                f" --prompts PATH/{PUBLISHED}, with PATH a checkout of humanoid-vstar/hstar; or name other prompts"
                " (--prompts hvs), which the results will call a deviation"
            )
        return {**self.model, **given}

    def run_settings(
        self,
        policy: str,
        given: Mapping[str, Any],
        *,
        camera: Camera | None = None,
        sampling: Sampling | None = None,
        supersample: int = 1,
        max_turns: int | None = None,
        scoring: ScoringMode | None = None,
        seed: int | None = PUBLISHED_SEED,
    ) -> RunSettings:
        """Return the settings of a run: the protocol's, but for what is given; the deviations are in them.

        Args:
            policy: its name.
            given: settings of the policy that the user named.
            camera: of the views; None, as for all that follow: the protocol's.
            sampling: of the views.
            supersample: of the views; no protocol has more than 1.
            max_turns: of each search.
            scoring: which rule counts.
            seed: of the order; None: by scene.

        Raises:
            PolicyError: as ``policy_settings``, or the prompts cannot be read.
        """
        used = camera or self.camera
        settings = RunSettings(
            policy=policy,
            policy_settings=self.policy_settings(policy, given),
            camera={"width": used.width, "height": used.height, "hfov_deg": used.hfov_deg},
            view={"sampling": sampling or self.sampling, "supersample": supersample},
            max_turns=max_turns or self.max_turns,
            versions=installed_versions(policy),
            protocol=self.name,
            scoring=(scoring or self.scoring).value,
            seed=seed,
        )
        return settings.with_deviations(self.deviations(settings))

    def deviations(self, settings: RunSettings) -> list[str]:
        """Return what a run does otherwise than the protocol, a line each; empty for a run that keeps it.

        Raises:
            PolicyError: there is no such policy, or the prompts cannot be read.
        """
        camera, view = settings.camera, settings.view
        size = f"{camera.get('width')}x{camera.get('height')}"
        hfov = camera.get("hfov_deg", self.camera.hfov_deg)
        pairs: dict[str, tuple[Any, Any]] = {
            "view": (size, f"{self.camera.width}x{self.camera.height}"),
            "field of view": (f"{hfov:g}°", f"{self.camera.hfov_deg:g}°"),
            "sampling": (view.get("sampling"), self.sampling),
            "supersampling": (view.get("supersample", 1), 1),
            "turns": (settings.max_turns or DEFAULT_MAX_TURNS, self.max_turns),
            "scoring": (settings.scoring or self.scoring.value, self.scoring.value),
        }
        used = {**policy_settings(settings.policy), **settings.policy_settings}
        model = self._fixes(used)
        if model:
            pairs |= {name: (used[name], value) for name, value in self.model.items()}
        lines = [f"{name}: {is_} instead of {meant}" for name, (is_, meant) in pairs.items() if is_ != meant]
        return lines + (self._other_words(used) if model else [])

    def _fixes(self, settings: Mapping[str, Any]) -> bool:
        """Return whether these are settings of a policy that asks a model; another may share a name of them."""
        return set(self.model) <= set(settings)

    def _other_words(self, used: Mapping[str, Any]) -> list[str]:
        if not self.published_prompts:
            return []
        name = str(used["prompts"])
        prompts = load_prompts(name, Thought(used.get("thought", Thought.FREE.value)))
        if prompts.digest != PUBLISHED_PROMPTS_SHA256:
            return [
                f"prompts: {name} ({prompts.name}, SHA-256 {prompts.digest[:16]}) instead of the published prompt.py"
            ]
        if prompts.notes == OWN.source:
            return ["feedback: in own words, as the published env.py is not beside prompt.py"]
        return []


_PAPER_MODEL: dict[str, Any] = {
    "window": "views",
    "views": 5,
    "drop": 1,
    "parser": "lenient",
    "stop": "answer",
    "thought": "free",
    "temperature": 0.0,
    "max_tokens": 1024,
    "jpeg_quality": 85,
    "image_format": "jpeg",
}

_FAILURES = (
    "a request that fails is sent again, and its episode run again, but never scored; the published runner scores the"
    " text of the error as an invalid answer"
)

PROTOCOLS: dict[str, Protocol] = {
    "paper": Protocol(
        name="paper",
        about="the paper's text",
        sampling="exact",
        scoring=ScoringMode.PAPER,
        model=_PAPER_MODEL,
        notes=(
            "answers are read as the published evaluation reads them since January 2026; the paper's figures are older",
            _FAILURES,
        ),
    ),
    "reference": Protocol(
        name="reference",
        about="the published code",
        sampling="hstar",
        scoring=ScoringMode.REFERENCE,
        model={**_PAPER_MODEL, "window": "published", "stop": "none"},
        published_prompts=True,
        notes=(
            _FAILURES,
            "angles beyond 3600 degrees are out of range; the published parser takes any whole number",
            "a path's tolerance holds for paths alone; a published environment that has served a path keeps its 10"
            " degrees for the objects after it, in a folder of both kinds (the published splits hold one each)",
            "a direction is told in whole degrees; the published feedback tells the fraction of a start that has one"
            " (the published starts have none)",
        ),
    ),
}
"""By name; "paper" is the default."""
