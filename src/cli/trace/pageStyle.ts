/** The style of the page. Colours never stand alone: every row says its outcome in words too. */
export const pageStyle = `
:root { color-scheme: light dark; --bg: #ffffff; --fg: #1b2230; --soft: #596476; --line: #dfe4ec; --row: #f5f7fa; --panel: #f5f7fa;
  --success: #1f7a4d; --failure: #c0362c; --cancelled: #a35f00; --other: #5b6b8c; --accent: #2457c5; --grid: #e9edf3; --label: 25rem; }
@media (prefers-color-scheme: dark) { :root { --bg: #12161c; --fg: #e6eaf0; --soft: #9ba7b8; --line: #2e3643; --row: #181e26; --panel: #1a212a;
  --success: #4fb880; --failure: #f07268; --cancelled: #e2a64a; --other: #8fa0c4; --accent: #86a9ff; --grid: #222a35; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--fg); font: 14px/1.45 system-ui, sans-serif; }
header { position: sticky; top: 0; z-index: 2; background: var(--bg); padding: .9rem 1.25rem 0; border-bottom: 1px solid var(--line); }
.top { display: flex; flex-wrap: wrap; gap: .4rem 2rem; align-items: baseline; justify-content: space-between; }
h1 { font-size: 1.2rem; margin: 0; overflow-wrap: anywhere; min-width: 0; }
#summary { display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; margin: 0; color: var(--soft); }
#summary b { color: var(--fg); font-variant-numeric: tabular-nums; }
#notes { margin: .1rem 0 0; padding: 0; list-style: none; color: var(--soft); font-size: .85rem; overflow-wrap: anywhere; }
.tools { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .7rem 0; }
.group { display: flex; }
.group button { border-radius: 0; margin-left: -1px; }
.group button:first-child { border-radius: 6px 0 0 6px; margin-left: 0; } .group button:last-child { border-radius: 0 6px 6px 0; }
button, input { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .2rem .7rem; min-height: 2rem; }
button { cursor: pointer; }
button:hover { border-color: var(--accent); z-index: 1; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; z-index: 1; }
input { width: 18rem; min-width: 0; }
input::placeholder { color: var(--soft); opacity: 1; }
#shown { color: var(--soft); }
.hint { margin-left: auto; color: var(--soft); font-size: .85rem; }
kbd { font: inherit; border: 1px solid var(--line); border-bottom-width: 2px; border-radius: 4px; padding: 0 .3em; }
.legend { display: flex; flex-wrap: wrap; gap: .1rem .9rem; color: var(--soft); font-size: .8rem; }
.key::before { content: ""; display: inline-block; width: .75em; height: .75em; margin-right: .4em; border-radius: 2px; background: var(--c); }
.key.line::before { width: 1.3em; height: .7em; background: linear-gradient(var(--soft) 0 0) right / 2px 100% no-repeat, linear-gradient(var(--line) 0 0) center / 100% 2px no-repeat; border-radius: 0; }
.success { --c: var(--success); } .failure { --c: var(--failure); } .cancelled { --c: var(--cancelled); } .other { --c: var(--other); }
main { padding: 0 1.25rem 30vh; }
h2 { font-size: .95rem; margin: 1.1rem 0 .3rem; overflow-wrap: anywhere; }
h2 small { color: var(--soft); font-weight: normal; margin-left: .4rem; }
.row { display: grid; grid-template-columns: var(--label) minmax(0, 1fr); gap: .9rem; align-items: center; width: 100%; }
button.row { border: 0; border-radius: 0; background: none; padding: 0; text-align: left; min-height: 1.75rem; content-visibility: auto; contain-intrinsic-height: 1.75rem; }
button.row:hover { background: var(--row); }
button.row[aria-expanded=true] { background: var(--panel); box-shadow: inset 3px 0 var(--accent); }
.label { display: flex; gap: .8rem; align-items: baseline; min-width: 0; padding-left: calc(.6rem + var(--depth, 0) * .9rem); }
.label .n { flex: 1; min-width: 4rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.label .t { flex: none; min-width: 4.2rem; text-align: right; color: var(--soft); font-variant-numeric: tabular-nums; }
.label .o { flex: none; width: 9.5rem; color: var(--c); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.label .o::before { content: ""; display: inline-block; width: .55em; height: .55em; margin-right: .45em; border-radius: 50%; background: var(--c); }
.track { position: relative; height: 1.75rem; overflow: hidden;
  background: repeating-linear-gradient(to right, var(--grid) 0 1px, transparent 1px var(--step, 100%)) var(--shift, 0) 0 / 200% 100%; }
.bar, .due, .tick, .rest { position: absolute; left: calc((var(--s) - var(--from)) * var(--k) * 1%); }
.bar, .rest { width: calc((var(--e) - var(--s)) * var(--k) * 1%); }
.bar { top: .45rem; bottom: .45rem; min-width: 4px; background: var(--c); border-radius: 3px; }
.bar.open { background: repeating-linear-gradient(45deg, var(--c) 0 6px, transparent 6px 9px); }
.rest { top: calc(50% - 1px); height: 2px; background: var(--line); }
.due { top: .4rem; bottom: .4rem; width: 2px; background: var(--soft); }
.head { color: var(--soft); font-size: .85rem; }
.head .label { padding-left: 0; justify-content: space-between; }
.chart { position: relative; height: 2.4rem; background: var(--row); border-radius: 4px 4px 0 0; overflow: hidden; touch-action: pan-y; cursor: crosshair; }
#slots { display: block; width: 100%; height: 100%; }
#area { fill: var(--accent); fill-opacity: .3; stroke: var(--accent); vector-effect: non-scaling-stroke; }
#brush { position: absolute; top: 0; bottom: 0; left: var(--a); width: calc(var(--b) - var(--a)); background: var(--accent); opacity: .25; pointer-events: none; }
#axis { height: 1.5rem; background: none; }
.tick { top: 0; bottom: 0; border-left: 1px solid var(--line); padding: .1rem 0 0 .3rem; white-space: nowrap; font-variant-numeric: tabular-nums; }
#details { background: var(--panel); border: 1px solid var(--line); border-left: 3px solid var(--accent); border-radius: 0 0 6px 6px; padding: .6rem 1rem 1rem; margin-bottom: .6rem; }
#details h3 { font-size: 1rem; margin: .1rem 5rem .6rem 0; overflow-wrap: anywhere; }
#close { float: right; background: var(--bg); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(10rem, 100%), 1fr)); gap: .6rem 1.5rem; margin: 0; }
dl .wide { grid-column: span 2; }
dt { color: var(--soft); font-size: .85rem; } dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; font-variant-numeric: tabular-nums; }
[hidden] { display: none !important; }
@media (min-width: 1200px) { :root { --label: 29rem; } }
@media (max-width: 1000px) { :root { --label: 20rem; } .hint { display: none; } .label .o { width: 7rem; } }
@media (max-width: 700px) {
  header { padding: .7rem .8rem 0; position: static; } main { padding: 0 .8rem 30vh; }
  .row { grid-template-columns: minmax(0, 1fr); gap: 0; }
  button.row { padding: .45rem 0 .35rem; border-top: 1px solid var(--grid); contain-intrinsic-height: 3.4rem; }
  h2 + button.row { border-top: 0; }
  .label { padding-left: calc(.4rem + var(--depth, 0) * .8rem); }
  .label .o { width: auto; max-width: 50%; }
  .head .label { padding: .2rem 0; }
  button.row .track { height: 1.4rem; } .bar { top: .3rem; bottom: .3rem; } .due { top: .25rem; bottom: .25rem; }
  button { min-height: 2.5rem; min-width: 2.75rem; }
  .find { flex: 1 1 100%; } input { width: 100%; min-height: 2.5rem; }
  dl { grid-template-columns: 1fr 1fr; }
}
@media (prefers-reduced-motion: no-preference) { button { transition: border-color .1s; } }
`
