/** The timeline as one HTML page that needs nothing else: no network, no inline handler, data only as JSON and text nodes. */
import { createHash } from "node:crypto"
import { pageScript } from "./pageScript.ts"
import { pageStyle } from "./pageStyle.ts"
import type { Trace } from "./Trace.ts"

const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`

/** Inside a script element only `<` can end it or begin a comment; U+2028 and U+2029 are escaped for old readers. */
export const jsonIsland = (value: object): string =>
  JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`
  })

const policy = [
  "default-src 'none'",
  `script-src ${hash(pageScript)}`,
  `style-src ${hash(pageStyle)}`,
  "base-uri 'none'",
  "form-action 'none'"
].join("; ")

export const htmlPage = (trace: Trace): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Timeline</title>
<style>${pageStyle}</style>
</head>
<body>
<header>
<div class="top"><h1 id="title">Timeline</h1><p id="summary"></p></div>
<ul id="notes"></ul>
<div class="tools" role="toolbar" aria-label="Timeline">
<div class="group">
<button type="button" id="out" title="Zoom out (-)" aria-label="Zoom out">&#8722;</button>
<button type="button" id="in" title="Zoom in (+)" aria-label="Zoom in">+</button>
</div>
<div class="group">
<button type="button" id="left" title="Earlier (left arrow)" aria-label="Earlier">&#8592;</button>
<button type="button" id="right" title="Later (right arrow)" aria-label="Later">&#8594;</button>
</div>
<button type="button" id="all" title="Show everything (0)">Everything</button>
<div class="find"><input type="search" id="filter" autocomplete="off" aria-label="Filter" placeholder="Filter by name, agent, outcome"></div>
<span id="shown" role="status"></span>
<span class="hint"><kbd>+</kbd> <kbd>&#8722;</kbd> zoom &#183; <kbd>&#8592;</kbd> <kbd>&#8594;</kbd> move &#183; <kbd>&#8593;</kbd> <kbd>&#8595;</kbd> rows &#183; <kbd>Enter</kbd> details &#183; <kbd>/</kbd> filter</span>
</div>
<div class="row head"><span class="label"><span>Pending calls</span> <b id="most"></b></span><div class="chart" id="chart" title="Drag to zoom"><svg id="slots" preserveAspectRatio="none" role="img"><path id="area"/></svg><div id="brush" hidden></div></div></div>
<div class="row head"><span class="legend"><span class="key success">success</span><span class="key failure">failure</span><span class="key cancelled">cancelled</span><span class="key other">other</span><span class="key line">deadline</span></span><div class="track" id="axis"></div></div>
</header>
<main id="rows"></main>
<aside id="details" hidden aria-label="Details"><button type="button" id="close">Close</button><h3 id="name"></h3><dl id="facts"></dl></aside>
<noscript><p>This page draws its timeline with the script it contains.</p></noscript>
<script type="application/json" id="data">${jsonIsland(trace)}</script>
<script>${pageScript}</script>
</body>
</html>
`
