import { ToolError } from '../../contract/tool-error.ts'
import type { LimitReached } from './limit-reached.ts'

/** The code of each limit, what was used of it in words, and what the manifest calls it. */
const LIMITS: {
  readonly [what in LimitReached['what']]: readonly [code: string, words: string, key: string]
} = {
  cpuSeconds: ['TIMEOUT', 'seconds of processor time', 'cpu_seconds'],
  workspaceMb: ['DISK_FULL', 'MB of its workspace', 'workspace_mb'],
  memoryMb: ['E_MEMORY_LIMIT', 'MB of memory', 'memory_mb'],
  processes: ['E_PROCESS_LIMIT', 'processes', 'processes'],
}

/** The failure of a tool that used more than it may, and was ended for it. */
export function failureOfLimit({ what, allowed, seen }: LimitReached): ToolError {
  const [code, words, key] = LIMITS[what]
  // The kernel lets nobody beyond a limit of its own.
  const used =
    seen > allowed
      ? `used ${Math.round(seen * 10) / 10} ${words} where it may use ${allowed}`
      : `wanted more than the ${allowed} ${words} that it may use`
  return new ToolError(code, `the tool ${used}, and was ended`, {
    category: 'runtime',
    suggestion: `Raise resources.${key} in its manifest, or give it less to do`,
  })
}
