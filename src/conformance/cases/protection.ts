/** What becomes of a result, and where its values never go. docs/client-tools.md, section 7; docs/security.md. */
import {
  at,
  type Case,
  c,
  cite,
  completed,
  completedOne,
  history,
  type JsonObject,
  oneCall,
  tool,
  twoCalls
} from "../dsl.ts"

const clientTools = cite("client-tools")
const protocol = cite("local-agent-protocol")
const security = cite("security")

const logs = security("Logs go to stderr and hold fixed texts, names, counts, codes and stack frames, at every level;")

export const protection: ReadonlyArray<Case> = [
  c(
    "results.silent-errors",
    [protocol("error.message is for a person, has at most 256 bytes, and never repeats a value of the request."), logs],
    function* (t) {
      const b = yield* t.ready()
      const e = yield* oneCall(b, { a: "SENTINEL-ARG" })
      const wrong: ReadonlyArray<JsonObject> = [
        { status: "SENTINEL-X" },
        { text: { a: "SENTINEL-X" } },
        { "SENTINEL-X": 1 },
        { structured: { "token=SENTINEL-X": 1, "token=SENTINEL-Y": 2 } },
        { text: "SENTINEL-X".repeat(4000) }
      ]
      for (const fields of wrong) {
        const { message } = yield* b.replyRefused("invalid_params", e, fields)
        yield* t.expect(!message.includes("SENTINEL"), `a message repeats a value: ${message}`)
      }
      yield* b.accepted(e)
      yield* completed(b)
      yield* t.expect(!b.stderr.includes("SENTINEL"), "stderr repeats a value")
    }
  ),

  c(
    "results.redacted",
    [
      clientTools(
        "The value of a key whose name, in lower case and without _, - and ., ends in password, passwd, pwd, secret, token, apikey, accesskey, privatekey, authorization, cookie, credential, credentials, sessionid, sessid or connectsid, or whose last word is auth, becomes the string [redacted], unless it is null."
      ),
      clientTools(
        "In strings: values of bearer and basic authorization, name=value and name: value for those names, PEM blocks of private keys, tokens in the formats of well-known providers, the user part of URLs, and the API keys that the agent itself is configured with."
      )
    ],
    function* (t) {
      const b = yield* t.ready()
      const [x, y] = yield* twoCalls(b)
      const names = [
        "password",
        "dbPasswd",
        "client_secret",
        "access-token",
        "API_KEY",
        "accessKey",
        "private_key",
        "Authorization",
        "set-cookie",
        "credential",
        "awsCredentials"
      ]
      const keep = { tokens: 3, name: "ada" }
      const each = (value: JsonObject | string): JsonObject => Object.fromEntries(names.map((name) => [name, value]))
      const text = [
        "Authorization: Bearer SENTINELabcdef123456",
        "password=SENTINEL ok",
        "api_key: SENTINEL",
        "https://user:SENTINEL@example.org/x",
        "plain words"
      ]
      yield* b.accepted(x, { text: "", structured: { ...each({ deep: ["SENTINEL"] }), keep } })
      yield* b.accepted(y, { text: text.join("\n") })
      const [structured, plain] = yield* completed(b)
      yield* t.equal(structured?.content, { ...each("[redacted]"), keep }, "structured value")
      const masked = String(at(plain?.content, "text"))
      yield* t.expect(!masked.includes("SENTINEL"), `a secret is left in the text: ${masked}`)
      yield* t.expect(masked.includes("plain words"), `other text stays: ${masked}`)
      yield* t.expect(!b.frames.some((frame) => frame.text.includes("SENTINEL")), "a frame carries a secret")
    }
  ),

  c(
    "results.sanitized",
    clientTools(
      "From every string of text and structured value, keys included: control characters but LF, CR and tab, escape sequences, and bidirectional controls are removed."
    ),
    function* (t) {
      const b = yield* t.ready()
      const e = yield* oneCall(b)
      const text = "a\u0000b\u0007c\u007fd\u0085e\u202ef\u2066g\u001b[31mred\u001b[0m\tline\r\nend"
      yield* b.accepted(e, { text })
      yield* t.equal((yield* completedOne(b)).content, { text: "abcdefgred\tline\r\nend" }, "what the model saw")
    }
  ),

  c(
    "results.collision",
    [
      clientTools("If two keys of one object become equal,"),
      clientTools("nothing is dropped, and nothing passes unscanned."),
      clientTools("invalid_params leaves the call open.")
    ],
    function* (t) {
      const b = yield* t.ready()
      const e = yield* oneCall(b)
      const colliding: ReadonlyArray<JsonObject> = [
        { "token=aaaa1111": 1, "token=bbbb2222": 2 },
        { x: [{ "a\u0007": 1, a: 2 }] }
      ]
      for (const structured of colliding) {
        yield* t.equal((yield* b.reply(e, { structured })).error?.code, "invalid_params", JSON.stringify(structured))
      }
      yield* t.equal((yield* b.ok("status")).pending_client_calls, 1, "pending calls")
      yield* b.accepted(e, { structured: { "token=aaaa1111": 1, other: 2 } })
      const { content } = yield* completedOne(b)
      yield* t.equal([Object.keys(content ?? {}).length, at(content, "other")], [2, 2], "members, an untouched one")
      yield* t.expect(!JSON.stringify(content).includes("aaaa1111"), "a secret in a key is left")
    }
  ),

  c(
    "results.history-clean",
    [
      protocol("Raw arguments and raw results of tools are never in the history."),
      protocol("A client tool's card has the role generic, the tool's name as its title and no lines."),
      logs
    ],
    function* (t) {
      const asked = [{ name: "client__a", arguments: { q: "SENTINEL-ARG" } }]
      const provider = yield* t.provider([{ calls: asked }, { text: "all done" }])
      const b = yield* t.ready([tool("a")], { settings: provider.settings, capabilities: ["tool.cards"] })
      yield* b.turn("please")
      const [e] = yield* b.calls()
      if (e === undefined) return yield* t.fail("no call")
      yield* b.accepted(e, { text: "SENTINEL-TEXT", structured: { k: "SENTINEL-JSON" } })
      yield* t.equal((yield* b.finished()).data.status, "completed", "status")
      const [user, call, ...rest] = yield* history(b)
      yield* t.equal(
        [user, call, ...rest].map((entry) => entry?.kind),
        ["user", "tool", "assistant"],
        "kinds"
      )
      yield* t.equal([call?.text, call?.tool], ["", { name: "client__a", status: "success" }], "entry of the call")
      const cards = b.events("tool.card").map(({ data: { card } }) => [card.role, card.title, card.lines])
      yield* t.expect(cards.length > 0, "a card of the call")
      for (const card of cards) yield* t.equal(card, ["generic", "client__a", []], "role, title and lines of a card")
      // Pages of the history and cards among them.
      const holding = b.frames.filter(({ event, text }) => event !== "client.tool.call" && text.includes("SENTINEL"))
      yield* t.equal(
        holding.map(({ text }) => text),
        [],
        "frames that hold raw values"
      )
      yield* t.expect(!b.stderr.includes("SENTINEL"), "stderr holds raw values")
    }
  )
]
