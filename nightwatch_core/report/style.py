"""How the HTML report looks: plain, readable, in the reader's light or dark."""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fbfbf9; --sheet: #ffffff; --ink: #1d2129; --soft: #5d6573; --edge: #e1e2de;
  --wash: #f3f3ef; --link: #1a56b8; --bar: #7d93b8;
  --good: #17693a; --good-wash: #e2f3e7; --fair: #7d5200; --fair-wash: #fcf0d2;
  --bad: #a42323; --bad-wash: #fce6e4; --calm: #1f5f88; --calm-wash: #e0eff8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171c; --sheet: #1b1f26; --ink: #e4e6ea; --soft: #9aa3b0; --edge: #2e343d;
    --wash: #22272f; --link: #86b4f7; --bar: #6f86ad;
    --good: #82d69c; --good-wash: #17331f; --fair: #e8c069; --fair-wash: #362b10;
    --bad: #f49a92; --bad-wash: #431d1b; --calm: #8cc6ec; --calm-wash: #152f40;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif;
  overflow-wrap: anywhere;
}
main { max-width: 68rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.35; margin: .75rem 0; font-weight: 650; text-wrap: pretty; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; }
h3 { font-size: 1.1rem; line-height: 1.35; margin: 0 0 .35rem; }
h4 {
  font-size: .75rem; text-transform: uppercase; letter-spacing: .06em; color: var(--soft);
  margin: 1.4rem 0 .35rem;
}
p { margin: .4rem 0; max-width: 46rem; }
ul { margin: .3rem 0; padding-left: 1.2rem; }
li { margin: .2rem 0; }
a { color: var(--link); }
small, .note, .rest, .banner, .again { color: var(--soft); font-size: .875rem; }
code, pre { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { font-size: .86em; background: var(--wash); padding: .1em .3em; border-radius: 4px; }
pre { margin: 0; font-size: 13px; line-height: 20px; tab-size: 4; }
.name { color: var(--soft); margin: 0; max-width: none; }
.name span:first-child { font-variant-numeric: tabular-nums; margin: 0 .4rem; }
.banner { margin: .15rem 0; }
.badge {
  display: inline-block; font-size: .75rem; line-height: 1.6; padding: 0 .55em; border-radius: 99px;
  background: var(--wash); color: var(--soft); overflow-wrap: normal;
}
.badge.high, .badge.good { background: var(--good-wash); color: var(--good); }
.badge.medium, .badge.degraded { background: var(--fair-wash); color: var(--fair); }
.badge.low, .badge.failed { background: var(--bad-wash); color: var(--bad); }
.badge.known, .badge.calm { background: var(--calm-wash); color: var(--calm); }
.warnings {
  background: var(--fair-wash); color: var(--fair); border-left: 4px solid; border-radius: 4px;
  padding: .75rem 1rem; margin: 1rem 0;
}
.failed .warnings { background: var(--bad-wash); color: var(--bad); }
.counts { list-style: none; display: flex; flex-wrap: wrap; gap: .5rem; padding: 0; }
.counts { margin: 1.5rem 0; }
.counts li {
  background: var(--sheet); border: 1px solid var(--edge); border-radius: 8px; margin: 0;
  padding: .5rem .9rem; color: var(--soft); font-size: .8125rem; overflow-wrap: normal;
}
.counts b { display: block; font-size: 1.3rem; line-height: 1.25; color: var(--ink); }
.counts b, .number { font-variant-numeric: tabular-nums; }
.counts .nought b { color: var(--soft); font-weight: 400; }
.rows { width: 100%; border-collapse: collapse; background: var(--sheet); font-size: .9rem; }
.wide { border: 1px solid var(--edge); border-radius: 8px; overflow: hidden; }
.rows th {
  text-align: left; font-size: .75rem; color: var(--soft); background: var(--wash);
  padding: .45rem .75rem; overflow-wrap: normal;
}
.rows td { padding: .6rem .75rem; border-top: 1px solid var(--edge); vertical-align: top; }
.rows td small { display: block; }
.rows td:nth-child(2) { min-width: 12rem; }
.rows.score td:nth-child(2) { min-width: 0; }
.score th:not(:first-child) { text-align: right; }
.rows .number { text-align: right; white-space: nowrap; }
.rows .known td { color: var(--soft); }
article {
  background: var(--sheet); border: 1px solid var(--edge); border-radius: 10px;
  padding: 1.25rem 1.5rem; margin: 0 0 1.25rem; scroll-margin-top: 1rem;
}
article > header { display: flex; gap: 1.5rem; justify-content: space-between; }
article:target { border-color: var(--link); }
.rank { color: var(--soft); font-weight: 400; margin-right: .6rem; }
.what { margin: 0; }
svg { height: 36px; max-width: 40%; flex: none; }
rect { fill: var(--bar); }
dl { display: flex; flex-wrap: wrap; gap: .4rem 1.75rem; margin: .9rem 0; font-size: .875rem; }
dl div { min-width: 0; }
dt { color: var(--soft); font-size: .75rem; }
dd { margin: 0; }
.message { background: var(--wash); border-radius: 6px; padding: .7rem .9rem; margin: .75rem 0; }
.message { white-space: pre-wrap; }
figure { margin: .6rem 0 1rem; }
figcaption { margin-bottom: .3rem; font-size: .9rem; }
.code { border: 1px solid var(--edge); border-radius: 6px; overflow-x: auto; padding: .35rem 0; }
.code table { border-collapse: collapse; min-width: 100%; }
.code td { padding: 0 .9rem 0 0; }
.code td.mark {
  color: var(--soft); text-align: right; padding: 0 .75rem; width: 1%; user-select: none;
  white-space: nowrap; overflow-wrap: normal; vertical-align: top;
  font: 12px/20px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
.code pre { min-height: 20px; overflow-wrap: normal; }
.added { background: var(--good-wash); }
.removed { background: var(--bad-wash); }
.added .mark, .added pre { color: var(--good); }
.removed .mark, .removed pre { color: var(--bad); }
.lines { list-style: none; padding: 0; }
.lines li { border-left: 3px solid var(--edge); padding-left: .8rem; margin: .7rem 0; }
.lines span, .lines small { display: block; }
.done { list-style: none; padding: 0; }
.done .ok::before { content: "✓ "; color: var(--good); }
.done .not::before { content: "– "; color: var(--soft); }
details { margin: .6rem 0; }
summary { cursor: pointer; color: var(--soft); font-size: .9rem; }
summary b { color: var(--ink); }
details .wide { margin: .5rem 0 1rem; }
.file { margin: .1rem 0; }
@media (max-width: 44rem) {
  h1 { font-size: 1.2rem; }
  .counts { display: grid; grid-template-columns: repeat(3, 1fr); }
  .counts li { padding: .4rem .6rem; }
  main { padding: 1.25rem .9rem 3rem; }
  article { padding: 1rem; }
  article > header { display: block; }
  svg { max-width: 100%; margin-top: .6rem; }
  .rows thead { display: none; }
  .rows tr { display: block; padding: .6rem .8rem; }
  .rows tr + tr { border-top: 1px solid var(--edge); }
  .rows td { display: block; border: 0; padding: .1rem 0; }
  .rows td.number:first-child { display: none; }
  .rows td.number { text-align: left; color: var(--soft); }
  .rows td[data-name]::after { content: " " attr(data-name); color: var(--soft); }
}
@media print { article { break-inside: avoid; } body { background: none; } }
"""
