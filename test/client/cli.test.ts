/** product section 5, `run`: the words of a command, escapes, the answer as it streams; section 1: options. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { AnswerPrinter } from "../../src/cli/run/AnswerPrinter.ts"
import { CallLog, endedText, openText, timeText } from "../../src/cli/run/CallLog.ts"
import { escapeLine, escapeText } from "../../src/cli/run/escapeText.ts"
import { liveView } from "../../src/cli/run/LiveView.ts"
import { parse } from "../../src/cli/run/Options.ts"
import type { OutStream } from "../../src/cli/run/Streams.ts"
import { splitWords } from "../../src/cli/run/splitWords.ts"
import type { TurnEvent } from "../../src/client/TurnEvents.ts"

describe("--agent COMMAND", () => {
  it("is split on white space outside of quotes, which are removed and may open inside a word", () => {
    assert.deepStrictEqual(splitWords(`  node "a b" 'it "is"' x"y z"'w'\t"" \n`), [
      "node",
      "a b",
      'it "is"',
      "xy zw",
      ""
    ])
  })
  it("a backslash is literal", () => {
    assert.deepStrictEqual(splitWords('a\\ "b\\" c'), ["a\\", "b\\", "c"])
  })
  it("an open quote or a blank command is wrong usage", () => {
    for (const command of ["a 'b", 'a "b', "", "  ", '""', "'' x"]) assert.isString(splitWords(command), command)
  })
})

describe("options", () => {
  const usage = (...args: ReadonlyArray<string>) => parse(args)._tag
  it("what is wrong is wrong usage", () => {
    for (const args of [
      [],
      ["  "],
      ["a", "b"],
      ["--nope", "a"],
      ["--tools"],
      ["--tools", "--json", "a"],
      ["--tools", "a", "--tools", "b", "go"],
      ["--model", "nomodel", "a"],
      ["--model", "/m", "a"],
      ["--model", "p/", "a"],
      ["--session", "not an id", "a"],
      ["--approve", "maybe", "a"],
      ["--log-level", "loud", "a"],
      ["--agent", "'", "a"]
    ]) {
      assert.strictEqual(usage(...args), "Usage", args.join(" "))
    }
  })
  it("the rest is taken as it is", () => {
    const parsed = parse(["--json", "--model=p/a/b", "--session", "s.1", "--approve", "none", "--", "-prompt"])
    assert.deepInclude(parsed._tag === "Options" ? parsed.options : {}, {
      json: true,
      model: { provider: "p", model: "a/b" },
      session: "s.1",
      approve: "none",
      prompt: "-prompt",
      logLevel: "warn"
    })
    assert.strictEqual(usage("-"), "Options")
  })
})

describe("escapes", () => {
  it("all of Cc but LF and tab, and bidirectional controls, are shown", () => {
    const hostile = "a\u001b[31m\u0007\u009b\r\u0000\u007f\u202e\u2066\u200f\u061cz"
    assert.strictEqual(
      escapeText(hostile),
      "a\\u001b[31m\\u0007\\u009b\\u000d\\u0000\\u007f\\u202e\\u2066\\u200f\\u061cz"
    )
    assert.strictEqual(escapeText("a\n\tö😀"), "a\n\tö😀")
    assert.strictEqual(escapeLine("a\n\tb"), "a\\u000a\\u0009b")
  })
})

describe("the answer", () => {
  const printed = (steps: ReadonlyArray<readonly [string, string | ReadonlyArray<string>]>) => {
    let out = ""
    const printer = new AnswerPrinter((text) => {
      out += text
    })
    const run = { session_id: "s", run_id: "r" }
    for (const [message_id, said] of steps) {
      if (typeof said === "string") printer.delta({ ...run, message_id, text: said })
      else {
        for (const [part, text] of said.entries()) {
          printer.reconcile({ ...run, message_id, part, parts: said.length, text })
        }
      }
    }
    printer.end()
    return out
  }
  it("messages are separated by an empty line; what deltas missed is printed from the reconcile", () => {
    assert.strictEqual(
      printed([
        ["a", "Hel"],
        ["a", "lo"],
        ["a", ["Hello."]],
        ["b", ["Second", "."]],
        ["c", "x"]
      ]),
      "Hello.\n\nSecond.\n\nx\n"
    )
  })
  it("a reconcile that does not begin with what was streamed is printed whole after an empty line", () => {
    assert.strictEqual(
      printed([
        ["a", "Helo"],
        ["a", ["Hello."]]
      ]),
      "Helo\n\nHello.\n"
    )
  })
  it("nothing is nothing, and an empty message is no message", () => {
    assert.strictEqual(printed([]), "")
    assert.strictEqual(
      printed([
        ["a", "x"],
        ["b", [""]],
        ["c", ["y"]]
      ]),
      "x\n\ny\n"
    )
  })
})

const stamp = { _tag: "Event", instanceId: "i", sequence: 1 } as const
const ofCall = { session_id: "s", run_id: "r", call_id: "c", task_id: null, subagent_id: null }
const called: TurnEvent = {
  ...stamp,
  at: 0n,
  event: "client.tool.call",
  data: { ...ofCall, name: "client__x", arguments: {}, timeout_ms: 30_000 }
}

describe("calls", () => {
  it("show their name, elapsed time against the deadline, and outcome", () => {
    const log = new CallLog()
    log.take(called)
    const [row] = log.open
    assert.strictEqual(row && openText(row, 3_200_000_000n), "client__x: 3.2 s of 30 s")
    const change = log.take({ _tag: "Reply", callId: "c", status: "error", at: 250_000_000n })
    assert.strictEqual(change?._tag === "Ended" ? endedText(change.ended) : "", "client__x: error after 250 ms")
    assert.lengthOf(log.open, 0)
    assert.isUndefined(log.take({ _tag: "Reply", callId: "c", status: "error", at: 0n }))
  })
  it("times are short", () => {
    assert.deepStrictEqual([0, 999, 1000, 30_000, 60_000, 125_000].map(timeText), [
      "0 ms",
      "999 ms",
      "1 s",
      "30 s",
      "1 min",
      "2 min 5 s"
    ])
  })
})

describe("the live view", () => {
  /** A terminal that only knows lines, "erase this line", "up", and to show or hide the cursor. */
  const screen = () => {
    const lines = [""]
    let row = 0
    const put = (text: string) => {
      for (const token of text.match(/\u001b\[[?0-9]*[A-Za-z]|[\s\S]/g) ?? []) {
        if (token === "\n") {
          row += 1
          lines[row] ??= ""
        } else if (token === "\u001b[1A") row -= 1
        else if (token === "\u001b[2K") lines[row] = ""
        else if (!token.startsWith("\u001b")) lines[row] += token
      }
    }
    const stream: OutStream = {
      isTerminal: true,
      columns: () => 40,
      raw: put,
      foreign: (text) => put(escapeText(text)),
      ready: Effect.void,
      flushed: Effect.void,
      gone: Effect.never
    }
    return { streams: { out: stream, err: stream }, text: () => lines.join("\n").replace(/\n+$/, "") }
  }
  it("draws open calls below the text and leaves a line for each that ended", () => {
    const { streams, text } = screen()
    let now = 0n
    const view = liveView({ streams, now: () => now, answer: true })
    const said = (message_id: string, words: string): TurnEvent => ({
      ...stamp,
      at: 0n,
      event: "message.reconcile",
      data: { session_id: "s", run_id: "r", message_id, part: 0, parts: 1, text: words }
    })
    view.event(said("a", "I look \u001b[2Jit up."))
    view.event(called)
    now = 1_500_000_000n
    view.draw()
    assert.strictEqual(text(), "I look \\u001b[2Jit up.\n  client__x: 1.5 s of 30 s")
    const resume = view.hold()
    assert.strictEqual(text(), "I look \\u001b[2Jit up.")
    resume()
    view.event({ _tag: "Reply", callId: "c", status: "success", at: 2_000_000_000n })
    view.event(said("b", "Found."))
    view.end({ status: "completed", error: undefined, text: "Found." })
    assert.include(text(), "+ client__x: success after 2 s")
    assert.include(text(), "Found.")
    assert.notInclude(text(), "of 30 s")
  })
})
