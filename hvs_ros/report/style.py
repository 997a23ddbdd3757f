"""How reports look: light and dark by the reader's own setting, and on paper."""

STYLE = """
:root {
  color-scheme: light dark;
  --ground: #f6f7f9; --card: #fff; --line: #dfe3ea; --text: #171b22; --soft: #5b6574; --code: #eef1f5;
  --gaze: #ffb020; --good: #16a34a; --bad: #dc2626; --open: #2563eb; --good-ground: #dcfce7; --bad-ground: #fee2e2;
  --open-ground: #dbeafe; --look: #60a5fa; --think: #a78bfa; --move: #f59e0b; --target: #22c55e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0e1116; --card: #161b22; --line: #2b323c; --text: #e6e9ee; --soft: #98a3b3; --code: #1f2630;
    --good: #4ade80; --bad: #f87171; --open: #60a5fa; --good-ground: #12351f; --bad-ground: #431a1c;
    --open-ground: #162b4a;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.5 system-ui, -apple-system, "Segoe UI",
  Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 28px 24px 60px; }
h1 { font-size: 27px; line-height: 1.25; margin: 6px 0 10px; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { font-size: 17px; margin: 34px 0 12px; }
a { color: var(--open); }
.over { color: var(--soft); font-size: 12px; letter-spacing: .08em; text-transform: uppercase; }
.head { display: flex; gap: 20px; align-items: flex-start; justify-content: space-between; flex-wrap: wrap; }
.head > div:first-child { flex: 1 1 460px; min-width: 0; }
.verdict { flex: none; padding: 10px 18px; border-radius: 12px; text-align: right; background: var(--open-ground);
  color: var(--open); }
.verdict.wide { flex: 1 1 100%; margin-bottom: 12px; text-align: left; overflow-wrap: anywhere; }
.verdict b { display: block; font-size: 20px; line-height: 1.3; }
.verdict span { font-size: 13px; }
.verdict.good { background: var(--good-ground); color: var(--good); }
.verdict.bad { background: var(--bad-ground); color: var(--bad); }
.facts { display: flex; flex-wrap: wrap; gap: 6px 22px; margin: 4px 0 18px; padding: 0; list-style: none;
  color: var(--soft); font-size: 14px; }
.facts b { color: var(--text); font-weight: 600; overflow-wrap: anywhere; }
.note { margin: 0 0 14px; padding: 9px 14px; border-radius: 9px; background: var(--bad-ground);
  overflow-wrap: anywhere; }
figure { margin: 0; }
.map { display: block; width: 100%; height: auto; border-radius: 12px; background: #20262e; overflow: hidden; }
.veil { fill: #000; opacity: .16; } .empty { fill: #2b333e; }
.grid { stroke: #fff; stroke-opacity: .13; stroke-width: .25; }
.tick { font-size: 3.1px; fill: #fff; fill-opacity: .85; paint-order: stroke; stroke: #000; stroke-opacity: .55;
  stroke-width: .7; }
.target { fill: var(--target); fill-opacity: .2; stroke: var(--target); stroke-width: .7; }
.accepted { fill: none; stroke: var(--target); stroke-width: .5; stroke-dasharray: 2 1.4; }
.view { fill: none; stroke: #fff; stroke-opacity: .5; stroke-width: .35; }
.gaze { fill: none; stroke: var(--gaze); stroke-width: .9; stroke-linejoin: round; stroke-linecap: round; }
.halo { stroke: #000 !important; stroke-opacity: .55 !important; }
.gaze.halo { stroke-width: 1.9; }
.arrow { fill: var(--gaze); stroke: #000; stroke-opacity: .5; stroke-width: .3; }
.stop rect { fill: var(--gaze); stroke: #000; stroke-opacity: .6; stroke-width: .4; }
.start rect { fill: #fff; stroke: #000; stroke-opacity: .7; stroke-width: .5; }
.number { font-size: 3.5px; font-weight: 700; fill: #14181f; }
.ring, .hair { fill: none; stroke: var(--open); stroke-width: 1; } .ring.halo, .hair.halo { stroke-width: 2; }
.answer.good .ring, .answer.good .hair { stroke: #22e36a; } .answer.bad .ring, .answer.bad .hair { stroke: #ff4d4d; }
.answer.open .ring, .answer.open .hair { stroke: #4da3ff; }
figcaption { display: flex; flex-wrap: wrap; gap: 4px 18px; margin-top: 9px; font-size: 13px; color: var(--soft); }
figcaption span { display: inline-flex; align-items: center; gap: 6px; }
.key { width: 18px; height: 11px; border-radius: 3px; display: inline-block; }
.key.k-start { background: #fff; border: 1px solid #555; border-radius: 6px; width: 12px; height: 12px; }
.key.k-gaze { height: 3px; background: var(--gaze); }
.key.k-target { background: color-mix(in srgb, var(--target) 35%, transparent); border: 1.5px solid var(--target); }
.key.k-accepted { border: 1.5px dashed var(--target); }
.key.k-view { border: 1.5px solid var(--soft); opacity: .7; }
.key.k-answer { width: 13px; height: 13px; border-radius: 50%; border: 2.5px solid var(--open); }
.key.k-answer.good { border-color: #22c55e; } .key.k-answer.bad { border-color: #ef4444; }
.turn { display: grid; grid-template-columns: minmax(0, 1.15fr) minmax(0, 1fr); gap: 20px; margin: 0 0 16px;
  padding: 14px;  border: 1px solid var(--line); border-radius: 14px; background: var(--card); break-inside: avoid; }
.turn img { display: block; width: 100%; height: auto; border-radius: 9px; }
.shot { position: relative; }
.cross { position: absolute; inset: 0; pointer-events: none; background:
  linear-gradient(#22ff55, #22ff55) center / 26px 2px no-repeat,
  linear-gradient(#22ff55, #22ff55) center / 2px 26px no-repeat; }
.turn .none { display: grid; place-items: center; min-height: 160px; border: 1px dashed var(--line); border-radius: 9px;
  color: var(--soft); font-size: 14px; text-align: center; padding: 12px; }
.turn header { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin-bottom: 8px; }
.turn header .n { display: inline-grid; place-items: center; min-width: 26px; height: 26px; padding: 0 7px;
  border-radius: 13px; background: var(--gaze); color: #14181f; font-weight: 700; }
.turn header .at { color: var(--soft); font-size: 14px; }
.thought { margin: 0 0 10px; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 15em; overflow: auto; }
.thought:empty { display: none; }
.command { font: 600 15px/1.4 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  background: var(--code);  border-radius: 8px; padding: 7px 11px; margin: 0 0 8px; overflow-wrap: anywhere; }
.badge { font: 600 12px/1 system-ui, sans-serif; padding: 4px 8px; border-radius: 20px; background: var(--code);
  color: var(--soft); }
.badge.good { background: var(--good-ground); color: var(--good); }
.badge.bad { background: var(--bad-ground); color: var(--bad); }
.badge.open { background: var(--open-ground); color: var(--open); }
.feedback { color: var(--soft); font-size: 14px; margin: 0 0 10px; overflow-wrap: anywhere; }
.bar { display: flex; height: 7px; border-radius: 4px; overflow: hidden; background: var(--code); margin: 2px 0 5px; }
.bar i { display: block; min-width: 1px; } .look { background: var(--look); } .think { background: var(--think); }
.move { background: var(--move); }
.times { display: flex; flex-wrap: wrap; gap: 2px 14px; font-size: 13px; color: var(--soft); }
.times i { display: inline-block; width: 8px; height: 8px; border-radius: 2px; margin-right: 5px; }
details { margin-top: 10px; font-size: 13px; } summary { cursor: pointer; color: var(--soft); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--code); border-radius: 8px; padding: 9px 11px;
  margin: 7px 0 0; font: 12.5px/1.5 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; max-height: 22em;
  overflow: auto; }
.wide { overflow-x: auto; border: 1px solid var(--line); border-radius: 12px; background: var(--card); }
table { width: 100%; border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: 8px 12px; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child td { border-bottom: 0; }
th { color: var(--soft); font-weight: 600; font-size: 13px; white-space: nowrap; }
td.num, th.num { text-align: right; white-space: nowrap; } td.words { overflow-wrap: anywhere; min-width: 12em; }
.map.small { width: 210px; height: 70px; border-radius: 7px; }
.map.small .gaze { stroke-width: 2; } .map.small .gaze.halo { stroke-width: 3.6; }
.map.small .answer { stroke-width: 2; } .map.small .tick { display: none; }
footer { margin-top: 30px; color: var(--soft); font-size: 13px; overflow-wrap: anywhere; }
@media (max-width: 760px) { .turn { grid-template-columns: minmax(0, 1fr); } main { padding: 18px 14px 40px; } }
@media print {
  :root { --ground: #fff; --card: #fff; --text: #000; } main { max-width: none; padding: 0; }
  body, .map, .turn, .verdict, .badge { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  .turn, .wide { break-inside: avoid; } .thought, pre { max-height: none; overflow: visible; }
}
"""


_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def document(title: str, body: str, more_style: str = "") -> str:
    """Return a whole page; title and body are HTML already, more_style follows the style of all reports."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{title}</title>\n<style>{STYLE}{more_style}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )
