/** Bytes, lines and the rules of JSON. docs/local-agent-protocol.md, sections 1 and 2. */
import { type Backend, type Case, c, cite, completedOne, nested, oneCall, sleep, tool } from "../dsl.ts"

const protocol = cite("local-agent-protocol")

/** A request of exactly `size` bytes without its LF, filled up with white space. */
const padded = (id: string, size: number): string => {
  const head = `{"version":1,"id":"${id}","method":"status","params":{}`
  return `${head}${" ".repeat(size - head.length - 1)}}`
}

const line = (b: Backend, id: string): string => b.requestLine("status", {}, id).trimEnd()

const tooLarge = (b: Backend) => b.until((frame) => frame.error !== undefined, "frame_too_large")

const bound = protocol("From the client a frame has at most 65536 bytes, its LF not counted.")
const asBytesArrive = protocol(
  "The agent looks at the bound as bytes arrive: a line that is too long is fatal before it ends."
)
const noOtherSeparates = protocol(
  "No other character separates: a CR is white space of JSON and counts, and U+2028, U+2029 and U+0085 are ordinary characters."
)
const utf8 = protocol("valid UTF-8, no byte order mark, not an empty line | invalid_request | invalid_request")
const depth = protocol(
  "at most 32 containers deep; the frame's own object is the first | invalid_request | invalid_params"
)
const equalKeys = protocol(
  "no object has two equal keys, after escapes are resolved | invalid_request | invalid_params"
)

export const framing: ReadonlyArray<Case> = [
  c("framing.size-at-bound", bound, function* (t) {
    const b = yield* t.spawn()
    yield* b.line(padded("big", 65_536))
    yield* t.expect((yield* b.response("big")).result, "a frame of 65536 bytes should be answered")
  }),

  c("framing.size-over", [bound, protocol("2 | an oversized frame")], function* (t) {
    const b = yield* t.spawn()
    b.expectExit(2)
    yield* b.line(padded("big", 65_537))
    const { error, id } = yield* tooLarge(b)
    yield* t.equal([id, error?.code], [null, "frame_too_large"], "error")
    yield* b.ended(2600)
    yield* t.expect(!b.frames.some((frame) => frame.id === "big"), "the oversized request must not be answered")
  }),

  c("framing.size-no-lf", asBytesArrive, function* (t) {
    const b = yield* t.spawn()
    b.expectExit(2)
    yield* b.raw("x".repeat(65_537))
    yield* t.equal((yield* tooLarge(b)).error?.code, "frame_too_large", "code")
    yield* b.ended(2600)
  }),

  c("framing.no-lf-waits", bound, function* (t) {
    const b = yield* t.spawn()
    yield* b.raw(padded("big", 65_536))
    yield* sleep(300)
    yield* t.equal(b.frames.length, 0, "answers before the LF")
    yield* b.raw("\n")
    yield* t.expect((yield* b.response("big")).result, "the frame should be answered once its LF came")
  }),

  c(
    "framing.byte-by-byte",
    protocol("A frame is one JSON object in UTF-8 with an LF (byte 0x0A) behind it."),
    function* (t) {
      const b = yield* t.ready()
      const call = yield* oneCall(b)
      const text = "é€😀 \u2028 end"
      const bytes = Buffer.from(b.requestLine("client.tool.result", b.answer(call, { text }), "split"))
      for (const byte of bytes) yield* b.raw(Uint8Array.of(byte))
      yield* t.equal((yield* b.response("split")).result, { accepted: true }, "reply")
      yield* t.equal((yield* completedOne(b)).content, { text }, "what the model saw")
    }
  ),

  c("framing.many-in-one-write", protocol("Each request gets exactly one response."), function* (t) {
    const b = yield* t.spawn()
    const ids = Array.from({ length: 200 }, (_, i) => `m${i}`)
    yield* b.raw(ids.map((id) => b.requestLine("status", {}, id)).join(""))
    for (const id of ids) yield* b.response(id)
    yield* sleep(50)
    yield* t.equal(b.frames.length, 200, "responses")
  }),

  c("framing.crlf", noOtherSeparates, function* (t) {
    const b = yield* t.spawn()
    yield* b.raw(`${line(b, "cr1")}\r\n`)
    yield* t.expect((yield* b.response("cr1")).result, "CR LF ends a frame like LF")
    yield* b.raw('{"version":1,\r"id":"cr2",\r"method":"status",\r"params":{}\r}\n')
    yield* t.expect((yield* b.response("cr2")).result, "a lone CR between tokens is white space")
    yield* b.raw(`${padded("cr3", 65_535)}\r\n`)
    yield* t.expect((yield* b.response("cr3")).result, "65535 bytes and a CR are within the bound")
    b.expectExit(2)
    yield* b.raw(`${padded("cr4", 65_536)}\r\n`)
    yield* t.equal((yield* tooLarge(b)).error?.code, "frame_too_large", "65536 bytes and a CR")
    yield* b.ended(2600)
  }),

  c("framing.cr-no-separator", noOtherSeparates, function* (t) {
    const b = yield* t.spawn()
    yield* b.raw(`${line(b, "x1")}\r${line(b, "x2")}\n`)
    yield* t.equal((yield* b.next("an answer")).error?.code, "invalid_request", "two objects in one line")
    yield* b.ok("status")
    yield* t.equal(b.frames.length, 2, "answers")
  }),

  c("framing.bom", utf8, function* (t) {
    const b = yield* t.spawn()
    for (const n of [1, 2]) {
      const from = b.frames.length
      yield* b.line(`\ufeff${line(b, `bom${n}`)}`)
      const { error } = yield* b.next("an answer", { from })
      yield* t.equal(error?.code, "invalid_request", `a byte order mark before frame ${n}`)
      yield* b.ok("status")
    }
  }),

  c("framing.not-json", [utf8, protocol("the grammar of JSON | invalid_request | invalid_request")], function* (t) {
    const b = yield* t.spawn()
    const bad = ["", " ", "garbage", "[]", '"x"', "1", "null", "{", '{"version":1,}', `${line(b, "tail")} {}`]
    bad.push("{'version':1}", '{"version":01}', '{"version":1,"id":"n","method":"status","params":{"a":NaN}}')
    bad.push('{"version":1,"id":"t","method":"status","params":{"a":"\t"}}')
    for (const [from, text] of bad.entries()) {
      yield* b.line(text)
      const { error, id } = yield* b.next(`an answer to ${JSON.stringify(text)}`, { from })
      yield* t.equal([id, error?.code], [null, "invalid_request"], JSON.stringify(text))
    }
    yield* b.ok("status")
  }),

  c("framing.bad-utf8", utf8, function* (t) {
    const b = yield* t.spawn()
    const sequences = [
      [0xc3, 0x28],
      [0xc0, 0xaf],
      [0xed, 0xa0, 0x80],
      [0xf5, 0x80, 0x80, 0x80],
      [0xe2, 0x82]
    ]
    for (const [from, bytes] of sequences.entries()) {
      const head = `{"version":1,"id":"u${from}","method":"session.open","params":{"session_id":"`
      yield* b.raw(Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from('"}}\n')]))
      const { error } = yield* b.next("an answer", { from })
      yield* t.equal(error?.code, "invalid_request", `bytes ${bytes.map((byte) => byte.toString(16)).join(" ")}`)
    }
  }),

  c(
    "framing.surrogate",
    protocol("no half of a surrogate pair, neither raw nor as an escape | invalid_request | invalid_params"),
    function* (t) {
      const b = yield* t.spawn()
      yield* b.line('{"version":1,"id":"e1","method":"stat\\ud800us","params":{}}')
      yield* t.equal((yield* b.next("an answer")).error?.code, "invalid_request", "half a pair in the method")
      yield* b.line('{"version":1,"id":"p1","method":"initialize","params":{"required_capabilities":["\\udc00"]}}')
      yield* t.equal((yield* b.response("p1")).error?.code, "invalid_params", "half a pair inside params")
      const pair = '["status","a\\ud83d\\ude00"]'
      yield* b.line(`{"version":1,"id":"p2","method":"initialize","params":{"required_capabilities":${pair}}}`)
      yield* t.equal((yield* b.response("p2")).error?.code, "unsupported_capability", "an escaped pair is a character")
    }
  ),

  c("framing.depth", depth, function* (t) {
    const b = yield* t.ready()
    const call = yield* oneCall(b)
    const deep = (n: number) => JSON.stringify(b.answer(call)).replace(/}$/, `,"structured":${nested(n)}}`)
    yield* b.refusedText("invalid_params", "client.tool.result", deep(31))
    const at32 = yield* b.requestText("client.tool.result", deep(30))
    yield* t.equal(at32.result, { accepted: true }, "a frame 32 deep")
    yield* t.equal(JSON.stringify((yield* completedOne(b)).content), nested(30), "what the model saw")
  }),

  c("framing.duplicate-envelope", equalKeys, function* (t) {
    const b = yield* t.spawn()
    const frames = [
      '{"version":1,"id":"d0","method":"shutdown","method":"status","params":{}}',
      '{"version":1,"id":"d1","method":"status","params":{},"params":{}}',
      '{"version":1,"id":"d2","method":"status","p\\u0061rams":{},"params":{}}',
      '{"version":1,"version":1,"id":"d3","method":"status","params":{}}',
      '{"version":1,"id":"d4","id":"d5","method":"status","params":{}}'
    ]
    for (const [from, text] of frames.entries()) {
      yield* b.line(text)
      yield* t.equal((yield* b.next("an answer", { from })).error?.code, "invalid_request", text)
    }
    yield* t.equal((yield* b.ok("status")).state, "new", "state")
  }),

  c("framing.duplicate-params", equalKeys, function* (t) {
    const b = yield* t.spawn()
    const names = '"required_capabilities":[]'
    for (const params of [`{${names},${names}}`, `{${names},"required\\u005fcapabilities":[]}`]) {
      yield* b.refusedText("invalid_params", "initialize", params)
    }
    yield* t.equal((yield* b.ok("status")).state, "new", "state")
  }),

  c(
    "framing.big-integers",
    [
      protocol(
        "integers survive as an IEEE-754 double (9007199254740993 does not), no number is infinite | invalid_request | invalid_params"
      ),
      protocol("Nothing is ever rounded, cut or repaired silently.")
    ],
    function* (t) {
      const b = yield* t.ready()
      const call = yield* oneCall(b)
      const holding = (n: string) => JSON.stringify(b.answer(call)).replace(/}$/, `,"structured":{"n":${n}}}`)
      const lost = ["9007199254740993", "1915883588174806058", "-9007199254740993", "1e400", "-1e400", "9".repeat(400)]
      for (const n of lost) yield* b.refusedText("invalid_params", "client.tool.result", holding(n))
      const kept = yield* b.requestText("client.tool.result", holding("9007199254740992"))
      yield* t.equal(kept.result, { accepted: true }, "2^53")
      yield* t.equal((yield* completedOne(b)).content, { n: 9_007_199_254_740_992 }, "what the model saw")
    }
  ),

  c("framing.deep-brackets", depth, function* (t) {
    const b = yield* t.spawn()
    yield* b.line("[".repeat(30_000))
    yield* t.equal((yield* b.next("an answer")).error?.code, "invalid_request", "30000 open brackets")
    yield* b.line(`{"version":1,"id":"deep","method":"status","params":{"a":${nested(30_000)}}}`)
    yield* t.equal((yield* b.response("deep")).error?.code, "invalid_params", "deep params of a sound envelope")
    yield* b.ok("status")
  }),

  c(
    "framing.output-unescaped",
    protocol(
      "What the agent writes is compact (no white space between tokens), and characters beyond ASCII stand for themselves."
    ),
    function* (t) {
      const b = yield* t.ready([tool("a")])
      const text = 'é \u2028\u2029\u0085 😀 "q" \\ end'
      yield* b.turn([{ text }])
      yield* t.equal((yield* b.finished()).data.status, "completed", "status")
      yield* t.equal(b.texts().at(-1), text, "text")
      yield* t.expect(b.events("message.reconcile")[0]?.text.includes("\u2028"), "U+2028 is written as it is")
    }
  )
]
