/**
 * Whether a line of a backend's stdout is a frame that the protocol allows. The grammar, envelopes and data are decoded
 * by the strict decoders of `protocol/`, which a client trusts too; what those forgive, and what a fault shared with our
 * own encoder would hide (white space, escapes, bounds, names, codes), is looked at here in the text itself.
 * docs/local-agent-protocol.md, sections 1 to 3 and 9.
 */
import * as Result from "effect/Result"
import { decodeServerFrame, type ServerFrame } from "../protocol/DecodeServerFrame.ts"
import { decodeEventData, isEventName, type Json, type JsonObject } from "../protocol/index.ts"
import { CODES, EVENTS, LIMITS, TEXT_BYTES } from "./Expected.ts"

export interface CheckedLine {
  /** Absent where the line is no frame at all. */
  readonly frame?: ServerFrame
  readonly problems: ReadonlyArray<string>
}

const bytesOf = (text: string): number => Buffer.byteLength(text)

/** White space between tokens, and escapes of what stands for itself. Only for text that is JSON. */
const compactFaults = (text: string): ReadonlyArray<string> => {
  const faults = new Set<string>()
  // A string with its escapes, or a run of white space outside of one.
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[ \t\r\n]+/g)) {
    if (token[0] !== '"') faults.add("white space between tokens")
    else {
      // An escaped backslash is consumed first, so that what follows it is no escape.
      for (const [escape, code] of token.matchAll(/\\(?:u([0-9a-fA-F]{4})|.)/g)) {
        if (code !== undefined && Number.parseInt(code, 16) >= 0x80) faults.add(`escaped non-ASCII ${escape}`)
      }
    }
  }
  return [...faults]
}

const isPointer = (text: string): boolean => /^(?:\/(?:[^~/]|~[01])*)*$/.test(text)

const errorFaults = ({ code, message, path }: { code: string; message: string; path?: string }): Array<string> => {
  const faults: Array<string> = []
  if (!CODES.has(code)) faults.push(`unknown error code ${code}`)
  if (bytesOf(message) > 256) faults.push(`error.message of ${bytesOf(message)} bytes`)
  if (path !== undefined && bytesOf(path) > 256) faults.push(`error.path of ${bytesOf(path)} bytes`)
  if (path !== undefined && !isPointer(path)) faults.push("error.path is no JSON Pointer")
  return faults
}

const compactText = (value: Json | undefined): number =>
  typeof value === "string" ? bytesOf(JSON.stringify(value)) - 2 : 0

const eventFaults = (event: string, data: JsonObject): Array<string> => {
  const members = EVENTS[event]
  if (members === undefined || !isEventName(event)) return [`unknown event ${event}`]
  const faults = ["session_id", "run_id", ...members]
    .filter((name) => !Object.hasOwn(data, name))
    .map((name) => `${event} lacks ${name}`)
  for (const [member, most] of Object.entries(TEXT_BYTES[event] ?? {})) {
    const bytes = compactText(data[member])
    if (bytes > most) faults.push(`${member} of ${event} has ${bytes} compact bytes`)
  }
  const decoded = decodeEventData(event, data)
  if (faults.length === 0 && Result.isFailure(decoded)) {
    faults.push(`${event}: ${decoded.failure.path ?? "data"} ${decoded.failure.message}`)
  }
  return faults
}

const frameFaults = (frame: ServerFrame): ReadonlyArray<string> => {
  if (frame._tag === "Failure") return errorFaults(frame.error)
  if (frame._tag === "Success") return []
  const faults = eventFaults(frame.event, frame.data)
  // A client answers such arguments with an error reply; a backend must not send them.
  return frame.fault === undefined ? faults : [...faults, `arguments: ${frame.fault.message}`]
}

/** Checks one line without its LF. */
export const checkLine = (line: Uint8Array): CheckedLine => {
  const size = line.length + 1 > LIMITS.output_frame_bytes ? [`a frame of ${line.length + 1} bytes with its LF`] : []
  const decoded = decodeServerFrame(line)
  if (Result.isFailure(decoded)) return { problems: [...size, decoded.failure.message] }
  const frame = decoded.success
  const text = new TextDecoder().decode(line)
  return { frame, problems: [...size, ...compactFaults(text), ...frameFaults(frame)] }
}
