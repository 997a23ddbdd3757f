"""What searches took: ways of the head, answers, seconds, tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hvs_ros.angles import Direction, yaw_difference_deg
from hvs_ros.benchmark.intervals import Rate
from hvs_ros.benchmark.record import TurnRecord
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.spread import Spread
from hvs_ros.policy.parse import well_formed
from hvs_ros.search.decision import ParseStatus
from hvs_ros.search.task import Target

_IN_BOX_DEG = 1e-6


@dataclass(frozen=True)
class Answers:
    """What the answers of completed searches were, by turn.

    Attributes:
        statuses: how many turns have which parse status, most frequent first.
        valid: turns whose answer was a valid action.
        well_formed: turns whose answer had the published format, thought and answer in their tags and nothing else; of
            those whose answer is a text. A policy that does not write has none: its answer is empty, or the action.
    """

    statuses: Mapping[str, int]
    valid: Rate
    well_formed: Rate

    @classmethod
    def of(cls, turns: Sequence[TurnRecord]) -> Answers:
        """Return what the answers of these turns were."""
        counted = Counter(turn.status.value for turn in turns)
        statuses = dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))
        texts = [turn.raw for turn in turns if turn.raw and turn.raw != str(turn.action)]
        formed = Rate(sum(map(well_formed, texts)), len(texts))
        return cls(statuses, Rate(counted[ParseStatus.OK.value], len(turns)), formed)


@dataclass(frozen=True)
class Latency:
    """Seconds.

    Attributes:
        look_s: a turn, to get the view.
        think_s: a turn, to decide.
        move_s: a turn, to move.
        turn_s: a turn, all three.
        episode_s: an episode, everything included; searches that ran at the same time wait for each other.
    """

    look_s: Spread
    think_s: Spread
    move_s: Spread
    turn_s: Spread
    episode_s: Spread

    @classmethod
    def of(cls, results: Sequence[EpisodeResult], turns: Sequence[TurnRecord]) -> Latency:
        """Return the durations of searches and their turns."""
        return cls(
            look_s=Spread.of(turn.times.look_s for turn in turns),
            think_s=Spread.of(turn.times.think_s for turn in turns),
            move_s=Spread.of(turn.times.move_s for turn in turns),
            turn_s=Spread.of(turn.seconds for turn in turns),
            episode_s=Spread.of(result.seconds for result in results),
        )


@dataclass(frozen=True)
class Tokens:
    """Tokens a turn, where the policy counts them.

    Attributes:
        prompt: of the request.
        completion: of the answer.
        image: of the turn's picture.
        prompt_total: of all requests.
        completion_total: of all answers.
    """

    prompt: Spread
    completion: Spread
    image: Spread
    prompt_total: int
    completion_total: int

    @classmethod
    def of(cls, turns: Sequence[TurnRecord]) -> Tokens:
        """Return the tokens of these turns."""
        prompt = [turn.usage.prompt_tokens for turn in turns if turn.usage.prompt_tokens is not None]
        completion = [turn.usage.completion_tokens for turn in turns if turn.usage.completion_tokens is not None]
        image = [turn.usage.image_tokens for turn in turns if turn.usage.image_tokens is not None]
        return cls(Spread.of(prompt), Spread.of(completion), Spread.of(image), sum(prompt), sum(completion))


def detour(result: EpisodeResult) -> float | None:
    """Return the head's way as a multiple of the shortest one from the start to the target's box.

    Below 1 where the head never looked at it: submitting needs no looking. None where the search began in the box,
    or there is none.
    """
    shortest = 0.0 if result.target is None else shortest_way_deg(result.target, result.start)
    return result.record.travel_deg / shortest if shortest > _IN_BOX_DEG else None


def shortest_way_deg(target: Target, start: Direction) -> float:
    """Return the angle from a direction to the nearest point of a target's box; 0 inside it.

    A path has no pitch: the head turns to its yaw at the pitch that it has.
    """
    aside = yaw_difference_deg(start.yaw_deg, target.center.yaw_deg)
    inside = abs(aside) <= target.width_deg / 2 + _IN_BOX_DEG
    if target.pitch_deg is None:
        edges = [Direction(yaw, start.pitch_deg) for yaw in target.yaw_deg]
        return 0.0 if inside else min(start.angle_to_deg(edge) for edge in edges)
    low, high = target.pitch_deg
    if inside:
        return max(0.0, low - start.pitch_deg, start.pitch_deg - high)
    # Along an edge the angle has one least value: at an end, or where the way meets the edge at right angles.
    points = [Direction(yaw, pitch) for yaw in target.yaw_deg for pitch in (low, high)]
    points += [Direction(yaw, pitch) for yaw in target.yaw_deg if low < (pitch := start.nearest_pitch_deg(yaw)) < high]
    return min(start.angle_to_deg(point) for point in points)
