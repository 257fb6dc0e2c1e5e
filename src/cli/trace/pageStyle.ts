/** The style of the page. Colours never stand alone: every row says its outcome in words too. */
export const pageStyle = `
:root { color-scheme: light dark; --bg: #ffffff; --fg: #1d2430; --soft: #5a6473; --line: #d8dde5; --row: #f4f6f9;
  --success: #2b7a4b; --failure: #c0392b; --cancelled: #b06f00; --other: #5b6b8c; --accent: #2457c5; --label: 18rem; }
@media (prefers-color-scheme: dark) { :root { --bg: #14181f; --fg: #e6eaf0; --soft: #9aa6b6; --line: #333b48; --row: #1b212a;
  --success: #4fb477; --failure: #ef6b5d; --cancelled: #e0a23c; --other: #8fa0c4; --accent: #86a9ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--fg); font: 14px/1.45 system-ui, sans-serif; }
header { position: sticky; top: 0; z-index: 2; background: var(--bg); padding: .75rem 1rem 0; border-bottom: 1px solid var(--line); }
h1 { font-size: 1.1rem; margin: 0; overflow-wrap: anywhere; }
#summary, #notes, .legend { margin: .15rem 0; color: var(--soft); padding: 0; list-style: none; overflow-wrap: anywhere; }
.tools { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; margin: .5rem 0; }
button, input { font: inherit; color: inherit; background: var(--row); border: 1px solid var(--line); border-radius: 6px; padding: .25rem .6rem; min-height: 2rem; }
button { cursor: pointer; }
button:hover { border-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
label { display: flex; gap: .4rem; align-items: center; }
input { width: 14rem; min-width: 0; }
#shown { color: var(--soft); }
.key { margin-right: 1rem; white-space: nowrap; }
.key::before { content: ""; display: inline-block; width: .8em; height: .8em; margin-right: .35em; border-radius: 2px; background: var(--c); }
.key.line::before { width: 2px; border-radius: 0; }
.success { --c: var(--success); } .failure { --c: var(--failure); } .cancelled { --c: var(--cancelled); }
.other { --c: var(--other); } .line { --c: var(--fg); }
main { padding: 0 1rem 40vh; }
h2 { font-size: .95rem; margin: 1rem 0 .25rem; overflow-wrap: anywhere; }
h2 small { color: var(--soft); font-weight: normal; }
.row { display: grid; grid-template-columns: var(--label) minmax(0, 1fr); gap: .75rem; align-items: center; width: 100%; }
button.row { border: 0; border-radius: 0; background: none; padding: 0; text-align: left; min-height: 1.6rem; content-visibility: auto; contain-intrinsic-height: 1.6rem; }
button.row:nth-of-type(even) { background: var(--row); }
button.row[aria-expanded=true] { box-shadow: inset 3px 0 var(--accent); }
.label { display: flex; gap: .5rem; min-width: 0; padding-left: calc(.4rem + var(--depth, 0) * .8rem); }
.label .n { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.label .o { color: var(--c); flex: none; max-width: 50%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.track { position: relative; height: 1.3rem; overflow: hidden; }
.bar, .due, .tick { position: absolute; left: calc((var(--s) - var(--from)) * var(--k) * 1%); }
.bar { top: .2rem; bottom: .2rem; width: calc((var(--e) - var(--s)) * var(--k) * 1%); min-width: 3px; background: var(--c); border-radius: 2px; }
.bar.open { background: repeating-linear-gradient(45deg, var(--c) 0 6px, transparent 6px 9px); }
.due { top: 0; bottom: 0; width: 2px; background: var(--fg); }
.head { color: var(--soft); font-size: .85rem; }
.head .label { padding-left: 0; }
#slots { display: block; width: 100%; height: 2.2rem; background: var(--row); }
#area { fill: var(--accent); fill-opacity: .45; stroke: var(--accent); vector-effect: non-scaling-stroke; }
.tick { border-left: 1px solid var(--line); padding-left: .25rem; white-space: nowrap; font-variant-numeric: tabular-nums; }
#details { position: fixed; right: 1rem; bottom: 1rem; z-index: 3; width: min(28rem, calc(100vw - 2rem)); max-height: 60vh; overflow: auto;
  background: var(--bg); border: 1px solid var(--line); border-radius: 8px; padding: .75rem 1rem; box-shadow: 0 6px 24px #0005; }
#details h2 { margin: 0 5rem .5rem 0; }
#close { float: right; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem .8rem; margin: 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
@media (max-width: 700px) {
  header { padding: .5rem .6rem 0; position: static; } main { padding: 0 .6rem 40vh; }
  .row { grid-template-columns: minmax(0, 1fr); gap: 0; }
  button.row { padding: .2rem 0; contain-intrinsic-height: 3rem; }
  button { min-height: 2.5rem; }
  label { flex: 1 1 100%; } input { flex: 1; min-height: 2.5rem; }
}
@media (prefers-reduced-motion: no-preference) { button { transition: border-color .1s; } }
`
