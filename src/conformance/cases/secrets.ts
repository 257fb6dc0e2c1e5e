/** What no child process and no model sees. docs/client-tools.md, section 7; docs/security.md. */
import { at, type Case, c, cite, completed, completedOne, type JsonObject, oneCall, shown, tool } from "../dsl.ts"

const clientTools = cite("client-tools")
const security = cite("security")
const tools = cite("tools")

const secretNames = clientTools(
  "The value of a key whose name, in lower case and without _, - and ., ends in password, passwd, pwd, secret, token, apikey, accesskey, privatekey, authorization, cookie, credential, credentials, sessionid, sessid or connectsid, or whose last word is auth, becomes the string [redacted], unless it is null. Names that end in pagetoken, nexttoken or continuationtoken are left alone."
)
const rejected = clientTools(
  "If two keys of one object become equal, or the result is larger than 32768 bytes afterwards, or it cannot be scanned in its time (50 ms of computing, 250 ms in all), the reply is invalid_params with a path at /structured or /text: nothing is dropped, and nothing passes unscanned."
)

export const secrets: ReadonlyArray<Case> = [
  c(
    "secrets.children",
    [
      security("They never get the variables that any api_key_env names"),
      tools("has the backend's environment without the variables that any api_key_env names")
    ],
    function* (t) {
      const provider = yield* t.provider([
        { calls: [{ name: "bash", arguments: { command: "env > bash.env" } }, { name: "client__a" }] },
        { text: "ok" }
      ])
      const spare = { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key_env: "KIT_KEY_TWO", models: ["m"] }
      const settings = {
        ...provider.settings,
        providers: { local: { ...provider.entry, api_key_env: "KIT_KEY_ONE" }, spare },
        approvals: { bash: "allow", write: "allow" },
        mcp: t.mcp({ env: t.file("mcp.env") }),
        hooks: { before_tool: [t.hook({ env: t.file("hook.env") })], after_tool: [] }
      }
      const env = { KIT_KEY_ONE: "SENTINEL-ONE", KIT_KEY_TWO: "SENTINEL-TWO", KIT_OTHER: "kept" }
      const b = yield* t.ready([tool("a")], { settings, env })
      yield* b.turn("go")
      const [e] = yield* b.calls()
      if (e === undefined) return yield* t.fail("no call")
      yield* b.accepted(e)
      yield* t.equal((yield* b.finished()).data.status, "completed", "status")
      yield* t.equal(provider.requests[0]?.headers.authorization, "Bearer SENTINEL-ONE", "what the provider gets")
      for (const name of ["bash.env", "hook.env", "mcp.env"]) {
        const environment = t.read(name)
        yield* t.expect(environment.includes("KIT_OTHER"), `${name}: other variables are there`)
        yield* t.expect(!/SENTINEL|KIT_KEY/.test(environment), `${name}: no variable of an API key is there`)
      }
    }
  ),

  c(
    "secrets.live-key",
    clientTools(
      "PEM blocks of private keys, tokens in the formats of well-known providers, the user part of URLs, and the API keys that the agent itself is configured with."
    ),
    function* (t) {
      const key = "quiet.harbour+42"
      const provider = yield* t.provider([{ calls: [{ name: "client__a" }] }, { text: "ok" }])
      const settings = provider.settingsWith({ api_key_env: "KIT_KEY_ONE" })
      const b = yield* t.ready([tool("a")], { settings, env: { KIT_KEY_ONE: key } })
      yield* b.turn("go")
      const [e] = yield* b.calls()
      if (e === undefined) return yield* t.fail("no call")
      const structured = { note: `it is ${key}, twice: ${key}`, [`k ${key}`]: [key], quietharbour42: "kept" }
      yield* b.accepted(e, { text: "", structured })
      yield* b.finished()
      const sent = provider.requests[1]?.text ?? ""
      yield* t.expect(!sent.includes(key), "the key does not reach the model")
      for (const part of ["it is [redacted], twice: [redacted]", "k [redacted]", "quietharbour42"]) {
        yield* t.expect(sent.includes(part), `the model should see ${part}: ${shown(sent.slice(-600), 700)}`)
      }
    }
  ),

  c("secrets.names", secretNames, function* (t) {
    const b = yield* t.ready()
    const secret: JsonObject = {
      secret: 5,
      apiKey: false,
      token: { a: 1 },
      pwd: "x",
      PHPSESSID: "x",
      sessionId: [1],
      "connect.sid": "x",
      auth: "x",
      proxyAuth: "x",
      "http-auth": 1,
      HTTP_AUTH: ""
    }
    const open: JsonObject = {
      password: null,
      next_page_token: "N1",
      nextToken: "N2",
      "continuation-token": "N3",
      PageToken: 4,
      author: "A",
      oauth: "B",
      authority: "C",
      sid: "D",
      tokens: 2
    }
    yield* b.accepted(yield* oneCall(b), { text: "", structured: { ...secret, ...open } })
    const masked = Object.fromEntries(Object.keys(secret).map((name) => [name, "[redacted]"]))
    const { content } = yield* completedOne(b)
    for (const [name, value] of Object.entries({ ...masked, ...open })) {
      yield* t.equal(at(content, name), value, `what the model saw of ${name}`)
    }
    yield* t.equal(content, { ...masked, ...open }, "what the model saw")
  }),

  c("secrets.collision-path", rejected, function* (t) {
    const b = yield* t.ready()
    const e = yield* oneCall(b)
    const structured = { deep: [{ "token=aaaa1111": 1, "token=bbbb2222": 2 }] }
    const collision = yield* b.replyRefused("invalid_params", e, { structured })
    yield* t.equal(collision.path, "/structured", "path, where two keys become equal")
    const grown = yield* b.replyRefused("invalid_params", e, { text: "pwd=1;".repeat(5000) })
    yield* t.equal(grown.path, "/text", "path, where the text becomes too large")
    yield* b.accepted(e)
    yield* completed(b)
  })
]
