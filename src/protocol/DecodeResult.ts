/**
 * Decoding of results, as a client does it: every member of its type, unknown members passed over.
 *
 * base-protocol sections 3 and 4; product section 5, frames from the agent.
 */
import type * as Result from "effect/Result"
import { card } from "./DecodeEvent.ts"
import type {
  AnnouncedClientToolLimits,
  AnnouncedLimits,
  ClientToolsAnnouncement,
  Extensions,
  InitializeResult
} from "./Initialize.ts"
import type { JsonObject } from "./Json.ts"
import type { MethodName } from "./Method.ts"
import type {
  Accepted,
  HistoryEntry,
  HistoryPage,
  ModelCatalog,
  ModelEntry,
  Selection,
  SelectionSet,
  SessionCreated,
  SessionEntry,
  SessionListed,
  SessionOpened,
  StatusResult,
  TurnStarted
} from "./MethodResult.ts"
import {
  arrayOf,
  boolean,
  type Check,
  count,
  decodeOpen,
  faultAt,
  id,
  literal,
  nullable,
  oneOf,
  open,
  type ParamsFault,
  type Shape,
  string
} from "./Params.ts"

/** The result of every method, by its name. */
export interface MethodResults {
  readonly initialize: InitializeResult
  readonly status: StatusResult
  readonly shutdown: Accepted
  readonly "session.create": SessionCreated
  readonly "session.open": SessionOpened
  readonly "session.list": SessionListed
  readonly "model.catalog": ModelCatalog
  readonly "selection.set": SelectionSet
  readonly "history.page": HistoryPage
  readonly "turn.start": TurnStarted
  readonly "turn.cancel": Accepted
  readonly "approval.answer": Accepted
  readonly "client.tool.result": Accepted
}

/** The result of the method `Name`. */
export type ResultOf<Name extends MethodName> = MethodResults[Name]

const limits: Check<AnnouncedLimits> = open<AnnouncedLimits>({
  required: {
    input_frame_bytes: count,
    output_frame_bytes: count,
    json_depth: count,
    request_ids: count,
    pending_output_frames: count,
    output_deadline_ms: count,
    cleanup_ms: count,
    prompt_bytes: count,
    page_entries: count,
    page_bytes: count,
    pending_approvals: count
  }
})

const clientToolLimits: Check<AnnouncedClientToolLimits> = open<AnnouncedClientToolLimits>({
  required: {
    tools: count,
    name_bytes: count,
    description_bytes: count,
    registry_bytes: count,
    schema_bytes: count,
    schema_depth: count,
    arguments_bytes: count,
    result_bytes: count,
    pending_calls: count,
    default_timeout_ms: count,
    min_timeout_ms: count,
    max_timeout_ms: count
  }
})

const announcement = { tools: arrayOf(string), limits: clientToolLimits }
const clientTools: Check<ClientToolsAnnouncement> = open<ClientToolsAnnouncement>({ required: announcement })

const extensions: Check<Extensions> = open<Extensions>({
  required: {},
  optional: {
    "tool.cards": open<NonNullable<Extensions["tool.cards"]>>({
      required: {
        schema_version: literal(1),
        event: oneOf("tool.card"),
        history_field: oneOf("tool_card")
      }
    }),
    "client.tools": open<NonNullable<Extensions["client.tools"]>>({
      required: { schema_version: literal(1), registration: oneOf("startup_only"), ...announcement }
    })
  }
})

const selection: Check<Selection> = open<Selection>({ required: { provider: string, model: string, revision: id } })
const accepted: Shape<Accepted> = { required: { accepted: literal(true) } }

const historyEntry: Check<HistoryEntry> = open<HistoryEntry>({
  required: {
    entry_id: id,
    kind: oneOf("user", "assistant", "tool", "notice"),
    created_at: string,
    text: string,
    part: count,
    parts: count,
    task_id: nullable(id)
  },
  optional: {
    tool: open<NonNullable<HistoryEntry["tool"]>>({
      required: { name: string, status: oneOf("success", "failure", "cancelled", "interrupted", "unknown") }
    }),
    tool_card: nullable(card)
  }
})

const protocolName: Check<"magi-code.local-agent"> = (value, path) =>
  value === "magi-code.local-agent" ? undefined : faultAt(path, "is another protocol")

const shapes: { readonly [Name in MethodName]: Shape<ResultOf<Name>> } = {
  initialize: {
    required: {
      protocol: protocolName,
      version: literal(1),
      instance_id: id,
      server: open<InitializeResult["server"]>({ required: { name: string, version: string } }),
      workspace: string,
      capabilities: arrayOf(string),
      limits,
      selection,
      extensions
    },
    optional: { client_tools: clientTools }
  },
  status: {
    required: {
      state: oneOf("new", "initializing", "ready", "failed", "closing"),
      instance_id: id,
      session_id: nullable(id),
      durable: boolean,
      run_id: nullable(id),
      history_revision: nullable(id),
      selection: nullable(selection),
      pending_approvals: count,
      pending_client_calls: count,
      requests_used: count
    }
  },
  shutdown: accepted,
  "session.create": { required: { session_id: id, durable: literal(false), history_revision: id } },
  "session.open": {
    required: { session_id: id, durable: literal(true), history_revision: id, title: nullable(string) }
  },
  "session.list": {
    required: {
      entries: arrayOf(
        open<SessionEntry>({
          required: { session_id: id, title: nullable(string), updated_at: string, entry_count: count }
        })
      ),
      revision: id,
      cursor: nullable(id),
      complete: boolean
    }
  },
  "model.catalog": {
    required: { entries: arrayOf(open<ModelEntry>({ required: { provider: string, model: string } })), revision: id }
  },
  "selection.set": { required: { selection, durable: literal(true) } },
  "history.page": {
    required: {
      session_id: id,
      revision: id,
      entries: arrayOf(historyEntry),
      cursor: nullable(id),
      complete: boolean
    }
  },
  "turn.start": { required: { run_id: id, accepted: literal(true) } },
  "turn.cancel": accepted,
  "approval.answer": accepted,
  "client.tool.result": accepted
}

/** Checks the result of a method. Unknown members stay in the value, untyped. */
export const decodeResult = <Name extends MethodName>(
  method: Name,
  result: JsonObject
): Result.Result<ResultOf<Name>, ParamsFault> => {
  const shape: Shape<ResultOf<Name>> = shapes[method]
  return decodeOpen(result, shape)
}
