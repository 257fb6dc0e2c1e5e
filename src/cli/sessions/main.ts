/** `magi-code sessions`: what is stored for this workspace. product section 1. */
import { Effect } from "effect"
import { isId } from "../../protocol/Ids.ts"
import {
  exportSession,
  listSessions,
  pruneSessions,
  type Removal,
  removeSessions,
  type StoredSession,
  type StorePlace,
  showSession
} from "../../store/StoredSessions.ts"
import { CommandFailed, UsageError } from "../help/errors.ts"
import { placeOf } from "../help/place.ts"
import type { Args } from "../help/readArgs.ts"
import { runEffect } from "../help/runEffect.ts"
import { didYouMean } from "../help/suggest.ts"
import { canAsk, columns, confirm, err, fitted, out, plain } from "../help/Terminal.ts"

const verbs = ["list", "show", "export", "delete", "prune"]
const DAY_MS = 86_400_000

/** Which options go with which word. */
const taken: { readonly [verb: string]: ReadonlyArray<string> } = {
  list: ["json"],
  show: ["json"],
  export: [],
  delete: ["yes"],
  prune: ["older-than", "yes"]
}

const idsOf = (words: ReadonlyArray<string>, verb: string): readonly [string, ...ReadonlyArray<string>] => {
  const [first, ...more] = words
  if (first === undefined) throw new UsageError(`${verb} needs the ID of a session`)
  const wrong = words.find((word) => !isId(word))
  if (wrong !== undefined) throw new UsageError(`${plain(wrong)} is not the id of a session`)
  return [first, ...more]
}

const oneId = (words: ReadonlyArray<string>, verb: string): string => {
  const [id, ...more] = idsOf(words, verb)
  if (more.length > 0) throw new UsageError(`${verb} takes one ID`)
  return id
}

const daysOf = (value: string | undefined): number => {
  if (value === undefined) throw new UsageError("prune needs --older-than DAYS")
  const days = /^\d{1,6}(\.\d{1,3})?$/.test(value) ? Number(value) : Number.NaN
  if (Number.isNaN(days)) throw new UsageError("--older-than is a number of days")
  return days
}

export const sessions = async (args: Args): Promise<number> => {
  const [verb = "list", ...words] = args.words
  if (!verbs.includes(verb)) throw new UsageError(`unknown word ${verb}${didYouMean(verb, verbs)}`)
  for (const name of args.values.keys()) {
    if (name !== "log-level" && !taken[verb]?.includes(name)) throw new UsageError(`--${name} does not go with ${verb}`)
  }
  const place = placeOf(process.env)
  const json = args.values.has("json")
  switch (verb) {
    case "show":
      return show(place, oneId(words, verb), json)
    case "export":
      return exported(place, oneId(words, verb))
    case "delete":
      return remove(place, idsOf(words, verb), args.values.has("yes"))
    default:
      if (words.length > 0) throw new UsageError(`${verb} takes no ${plain(words[0] ?? "")}`)
      return verb === "list"
        ? list(place, json)
        : prune(place, daysOf(args.values.get("older-than")), args.values.has("yes"))
  }
}

const list = async (place: StorePlace, json: boolean): Promise<number> => {
  const found = await runEffect(listSessions(place))
  if (json) out(`${JSON.stringify(found, null, 2)}\n`)
  else if (found.length === 0) err("no sessions are stored for this workspace\n")
  else {
    const rows = found.map((one) => [one.session_id, one.updated_at, String(one.entry_count), plain(one.title ?? "-")])
    out(fitted(columns([["ID", "UPDATED", "ENTRIES", "TITLE"], ...rows], new Set([2]))))
  }
  return 0
}

const facts = (session: StoredSession): ReadonlyArray<readonly [string, string]> => [
  ["id", session.sessionId],
  ["title", session.title ?? "-"],
  ["workspace", session.workspace],
  ["created", session.createdAt],
  ["updated", session.updatedAt],
  ["model", session.selection === null ? "-" : `${session.selection.provider}/${session.selection.model}`],
  ["delegated", session.delegated ? "yes (a subagent's)" : "no"],
  ["entries", String(session.entryCount)],
  [
    "calls",
    Object.entries(session.calls)
      .filter(([, count]) => count > 0)
      .map(([status, count]) => `${count} ${status}`)
      .join(", ") || "none"
  ],
  ["file", `${session.path} (${session.size} bytes)`]
]

const show = async (place: StorePlace, id: string, json: boolean): Promise<number> => {
  const session = await runEffect(showSession(place, id))
  if (json) out(`${JSON.stringify(session, null, 2)}\n`)
  else out(columns(facts(session).map(([name, value]) => [name, plain(value)])))
  return 0
}

const exported = async (place: StorePlace, id: string): Promise<number> => {
  const session = await runEffect(exportSession(place, id))
  // JSON.stringify escapes C0 controls but not C1 and what turns text around: on a terminal those are shown escaped too.
  const text = JSON.stringify(session, null, 2)
  out(`${process.stdout.isTTY === true ? text.split("\n").map(plain).join("\n") : text}\n`)
  return 0
}

/** Asks where somebody can be asked. */
const allowed = async (question: string, yes: boolean): Promise<boolean> => {
  if (yes) return true
  if (!canAsk()) throw new CommandFailed("there is no terminal to ask on; add --yes to delete without being asked")
  if (await confirm(question)) return true
  err("nothing was deleted\n")
  return false
}

const told = ({ kept, removed }: Removal): number => {
  for (const id of removed) out(`deleted ${id}\n`)
  for (const { sessionId, why } of kept) err(`magi-code sessions: ${sessionId} was not deleted: ${plain(why)}\n`)
  return kept.length === 0 ? 0 : 1
}

/** What cannot be deleted as it is not there, or not this workspace's: nobody needs to be asked about that. */
const missingOf = (place: StorePlace, ids: ReadonlyArray<string>): Promise<Removal["kept"]> =>
  runEffect(
    Effect.map(
      Effect.forEach(ids, (sessionId) =>
        Effect.match(showSession(place, sessionId), {
          onFailure: ({ kind, message }) =>
            kind === "session_not_found" || kind === "workspace_mismatch" ? [{ sessionId, why: message }] : [],
          onSuccess: () => []
        })
      ),
      (missing) => missing.flat()
    )
  )

const remove = async (place: StorePlace, ids: ReadonlyArray<string>, yes: boolean): Promise<number> => {
  const missing = await missingOf(place, ids)
  if (missing.length === ids.length) return told({ kept: missing, removed: [] })
  const what = ids.length === 1 ? `session ${ids[0]}` : `${ids.length} sessions`
  if (!(await allowed(`Delete ${what}, and what was delegated from it, for good?`, yes))) return 1
  return told(await runEffect(removeSessions(place, ids)))
}

const prune = async (place: StorePlace, days: number, yes: boolean): Promise<number> => {
  const now = Date.now()
  const old = (await runEffect(listSessions(place))).filter((one) => Date.parse(one.updated_at) < now - days * DAY_MS)
  if (old.length === 0) err("no listed session is that old\n")
  else {
    const question = `Delete ${old.length} ${old.length === 1 ? "session" : "sessions"} older than ${days} days for good?`
    if (!(await allowed(question, yes))) return 1
  }
  return old.length === 0 ? 0 : told(await runEffect(pruneSessions(place, { olderThanDays: days, now })))
}
