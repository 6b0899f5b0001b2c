import { ToolError } from '../../contract/tool-error.ts'
import type { LimitReached } from './limit-reached.ts'

type Explain = (limit: LimitReached) => ToolError

const LESS = { action: 'retry_with_modified_input', fix: 'Ask the tool for less, or raise the limit in its manifest' } as const

const EXPLAIN: { readonly [what in LimitReached['what']]: Explain } = {
  cpuSeconds: ({ allowed }) => new ToolError('TIMEOUT', `the tool used more than its ${allowed} seconds of processor time (cpu_seconds) and was ended`, { suggestion: LESS }),
  memoryMb: ({ allowed, seen }) => new ToolError('INTERNAL', `the tool used ${Math.ceil(seen)} MB of memory, more than its ${allowed} (memory_mb), and was ended`, { suggestion: LESS }),
  processes: ({ allowed }) => new ToolError('INTERNAL', `the tool had more than its ${allowed} processes (processes) and was ended`, { suggestion: LESS }),
  workspaceMb: ({ allowed }) => new ToolError('DISK_FULL', `the tool wrote more than its ${allowed} MB into its workspace (workspace_mb) and was ended`, { suggestion: LESS }),
}

/** The failure of a tool that used more than it may. */
export function failureOfLimit(limit: LimitReached): ToolError {
  return EXPLAIN[limit.what](limit)
}
