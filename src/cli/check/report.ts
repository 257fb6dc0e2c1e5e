/** The findings as text. */
import type { ParamsFault } from "../../protocol/Params.ts"
import type { Findings, Use } from "./findings.ts"

const useText = ({ bound, most, used }: Use): string => {
  const name = bound === "max_timeout_ms" ? "timeout_ms" : bound
  return `${name.padEnd(18)} ${String(used).padStart(6)} of ${most}${used > most ? "  too much" : ""}`
}

const faultText = ({ message, path }: ParamsFault): string =>
  `refused ${path === undefined ? "" : `at ${path}: `}${message}`

/** Lines without their LF. */
export const linesOf = ({ setFaults, setUses, tools }: Findings): ReadonlyArray<string> => [
  ...tools.flatMap((tool) => [
    tool.name,
    ...tool.uses.map((use) => `  ${useText(use)}`),
    ...tool.faults.map((fault) => `  ${faultText(fault)}`),
    ...(tool.fingerprint === undefined ? [] : [`  fingerprint        ${tool.fingerprint}`])
  ]),
  "all tools",
  ...setUses.map((use) => `  ${useText(use)}`),
  ...setFaults.map((fault) => `  ${faultText(fault)}`)
]
