"""How plots and strips of a benchmark's report look; the rest is as in every report (``style``)."""

BENCH_STYLE = """
:root { --run1: #2563eb; --run2: #c2410c; --grid: #e4e8ee; }
@media (prefers-color-scheme: dark) { :root { --run1: #6ea8fe; --run2: #fb923c; --grid: #2a313b; } }
.defs { position: absolute; } .hatch { stroke: var(--run1); stroke-width: 2.2; }
.verdicts { display: flex; gap: 12px; flex-wrap: wrap; }
.facts + .facts { margin-top: -12px; }
.note.open { background: var(--open-ground); } .note ul { margin: 4px 0 0; padding-left: 20px; }
.remarks { margin: 10px 0 0; padding-left: 18px; color: var(--soft); font-size: 13px; }
.paper th, .paper td { padding: 5px 9px; font-size: 13px; } .paper .group { text-align: center; }
.paper .first { border-left: 1px solid var(--line); } .paper .group { border-left: 1px solid var(--line); }
.paper tbody + tbody tr:first-child > * { border-top: 2px solid var(--soft); }
.paper th[rowspan], .paper .own th { width: 15em; }
.paper .own > * { font-weight: 700; color: var(--text); vertical-align: top; }
.paper .own th { white-space: normal; overflow-wrap: anywhere; min-width: 9em; }
.paper .own.s1 th { color: var(--run1); } .paper .own.s2 th { color: var(--run2); }
.paper .apart > * > * { color: var(--soft); } .paper .sizes > * { font-style: italic; font-weight: 400;
  white-space: normal; }
.paper small { display: block; font-weight: 400; font-size: 11px; color: var(--soft); }
.figures { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 18px; }
figure.plots { padding: 14px 16px; border: 1px solid var(--line); border-radius: 14px; background: var(--card);
  break-inside: avoid; min-width: 0; }
figure.wide-figure { grid-column: 1 / -1; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 360px), 1fr)); gap: 18px; }
.panels > div { min-width: 0; max-width: 640px; }
.numbers th, .numbers td { padding: 5px 9px; font-size: 13px; } .numbers th { white-space: normal; }
.numbers tbody th { min-width: 8.5em; overflow-wrap: anywhere; }
.wide tbody:last-child tr:last-child > * { border-bottom: 0; }
.wide + .wide { margin-top: 12px; }
.plots h3 { font-size: 15px; margin: 0 0 6px; } .plots h4 { font-size: 13px; margin: 0 0 2px; color: var(--soft); }
.plots p { margin: 8px 0 0; font-size: 13px; color: var(--soft); }
.plot { display: block; width: 100%; height: auto; font-size: 12px; overflow: visible; }
.plot text { fill: var(--soft); } .plot text.label { fill: var(--text); } .plot text.strong { font-weight: 700;
  fill: var(--text); }
.rule { stroke: var(--grid); fill: none; } .axis { stroke: var(--soft); fill: none; }
.zone { fill: var(--target); fill-opacity: .14; }
.s1 { --c: var(--run1); } .s2 { --c: var(--run2); }
.curve { fill: none; stroke: var(--c); stroke-width: 2.2; } .curve.s2 { stroke-dasharray: 6 4; }
.band { fill: var(--c); fill-opacity: .15; stroke: none; }
.point { fill: var(--c); stroke: var(--card); stroke-width: 1; }
.point.s2 { fill: var(--card); stroke: var(--c); stroke-width: 1.8; }
.whisker { fill: none; stroke: var(--c); stroke-width: 1.7; } .whisker.doubtful { stroke-dasharray: 3 2.5; }
.whisker.over.s1 { stroke: var(--text); }
.column { fill: var(--c); } .missed { fill: url(#hatch); stroke: var(--c); stroke-width: 1; }
.none { fill: var(--card); stroke: var(--soft); stroke-width: 1; stroke-dasharray: 3 2; }
.outline { fill: none; stroke: var(--c); stroke-width: 1.8; stroke-dasharray: 5 3; }
.cloud.hit { fill: var(--run1); fill-opacity: .8; } .cloud.miss { fill: none; stroke: var(--bad); stroke-opacity: .75;
  stroke-width: 1.2; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin-top: 8px; font-size: 13px; color: var(--soft); }
.legend span { display: inline-flex; align-items: center; gap: 7px; overflow-wrap: anywhere; }
.mark { flex: none; width: 22px; height: 11px; display: inline-block; }
.mark.k-run1 { height: 3px; background: var(--run1); }
.mark.k-run2 { height: 0; border-top: 2.5px dashed var(--run2); }
.mark.k-band { background: color-mix(in srgb, var(--run1) 20%, transparent); }
.mark.k-bar { background: var(--run1); }
.mark.k-hatch { background: repeating-linear-gradient(45deg, var(--run1) 0 2px, transparent 2px 5px);
  border: 1px solid var(--run1); }
.mark.k-none { border: 1px dashed var(--soft); } .mark.k-outline { border: 2px dashed var(--run2); border-bottom: 0; }
.mark.k-zone { background: color-mix(in srgb, var(--target) 22%, transparent); }
.mark.k-dot { width: 8px; height: 8px; border-radius: 50%; background: var(--run1); }
.mark.k-cross { width: auto; height: auto; } .mark.k-cross::before { content: "×"; font-style: normal;
  color: var(--bad); font-weight: 700; line-height: 1; font-size: 16px; }
.amount { position: relative; min-width: 150px; } .amount i { position: absolute; inset: 2px auto 2px 0;
  width: var(--part); background: color-mix(in srgb, var(--c) 28%, transparent); border-left: 3px solid var(--c); }
.amount span { position: relative; padding-left: 8px; white-space: nowrap; }
.strip { margin: 0 0 22px; padding: 16px; border: 1px solid var(--line); border-radius: 14px; background: var(--card); }
.strip-keys { margin: 0 0 12px; }
.strip-head { display: grid; grid-template-columns: minmax(0, 4fr) minmax(0, 5fr); gap: 18px; margin-bottom: 14px;
  break-inside: avoid; }
.strip h3 { font-size: 18px; line-height: 1.3; margin: 8px 0 10px; overflow-wrap: anywhere; }
.strip .facts { font-size: 13px; margin: 0 0 8px; gap: 3px 18px; }
.strip header, .shot-card header { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; }
.n { display: inline-grid; place-items: center; min-width: 24px; height: 24px; padding: 0 6px; border-radius: 12px;
  background: var(--gaze); color: #14181f; font-weight: 700; font-size: 13px; }
.strip-map .map { border-radius: 9px; }
.strip-map .start > *, .strip-map .stop > *, .strip-map .answer > * { scale: 1.6; }
.strip-map .tick { font-size: 6px; } .strip-map .view { stroke-width: .7; } .strip-map .gaze { stroke-width: 1.4; }
.strip-map .gaze.halo { stroke-width: 3; }
.shots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 250px), 1fr)); gap: 14px; }
.shot-card { min-width: 0; break-inside: avoid; font-size: 13px; }
.shot-view { display: block; width: 100%; height: auto; border-radius: 7px; background: #20262e; overflow: hidden; }
.shot-card header { margin: 7px 0 2px; } .shot-card .at { color: var(--soft); }
.shot-card .where { margin: 0 0 5px; color: var(--soft); } .shot-card .command { font-size: 13px; padding: 4px 8px; }
.shot-card .thought { max-height: 9em; font-size: 13px; margin: 0; } .cut { color: var(--soft); font-style: italic; }
.shot-card details { margin-top: 6px; } .shot-card pre { max-height: 12em; font-size: 12px; }
.v-target, .v-accepted, .v-cross { fill: none; vector-effect: non-scaling-stroke; }
.v-target { stroke: var(--target); stroke-width: 2; } .v-accepted { stroke: var(--target); stroke-width: 1.5;
  stroke-dasharray: 5 3.5; }
.v-target.halo { stroke-width: 4; } .v-accepted.halo { stroke-width: 3; }
.v-cross { stroke: #22ff55; stroke-width: 1.2; }
.v-cross.halo { stroke-width: 3; }
.key.k-cross.green { position: relative; width: 13px; height: 13px; background:
  linear-gradient(#16a34a, #16a34a) center / 13px 2px no-repeat, linear-gradient(#16a34a, #16a34a) center / 2px 13px
  no-repeat; }
@media screen and (max-width: 860px) { .figures, .strip-head { grid-template-columns: minmax(0, 1fr); } }
@media print {
  .plot, .mark, .amount, .strip, .shot-view, .n { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  body { font-size: 11px; line-height: 1.4; } h1 { font-size: 20px; } h2 { font-size: 14px; margin-top: 18px; }
  h2, h3, h4, .strip-head { break-after: avoid; } .plots h3 { font-size: 12px; } .plots h4 { font-size: 10px; }
  details:not([open]) { display: none; } .wide { overflow: visible; }
  .figures { display: block; columns: 2; column-gap: 10px; } .wide-figure { column-span: all; }
  figure.plots { margin-bottom: 10px; padding: 9px 11px; } .panels { grid-template-columns: repeat(auto-fit,
  minmax(min(100%, 200px), 1fr)); gap: 10px; }
  .plots p, .legend, .facts, .strip .facts, .remarks, .shot-card, .shot-card .thought { font-size: 10px; }
  .paper th, .paper td, .numbers th, .numbers td, .bars td, .bars th { font-size: 9.5px; padding: 2px 4px; }
  .paper small { font-size: 8px; } .paper th[rowspan], .paper .own th { width: auto; min-width: 0; }
  .numbers tbody th { min-width: 0; } .verdict b { font-size: 15px; } .verdict span { font-size: 11px; }
  .strip { padding: 9px; break-inside: auto; } .strip h3 { font-size: 13px; } .shots { gap: 8px; }
  .shots { grid-template-columns: repeat(4, minmax(0, 1fr)); } .shot-card pre { max-height: none; font-size: 9px; }
  .shot-card .thought { max-height: none; } .shot-card .command { font-size: 9.5px; padding: 2px 5px; }
}
"""
