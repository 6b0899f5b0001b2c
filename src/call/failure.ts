import { ToolError } from '../contract/tool-error.ts'
import type { AnyErrorCode } from '../contract/tool-error.ts'

const SYSTEM_CODES: { readonly [errno: string]: AnyErrorCode } = {
  ENOENT: 'NOT_FOUND', ENOTDIR: 'NOT_FOUND', EEXIST: 'CONFLICT', EACCES: 'PERMISSION', EPERM: 'PERMISSION', EROFS: 'PERMISSION',
  ENOSPC: 'DISK_FULL', EDQUOT: 'DISK_FULL',
  ECONNREFUSED: 'DEPENDENCY', ECONNRESET: 'DEPENDENCY', EPIPE: 'DEPENDENCY', ENOTFOUND: 'DEPENDENCY', EAI_AGAIN: 'DEPENDENCY',
  ETIMEDOUT: 'DEPENDENCY', EHOSTUNREACH: 'DEPENDENCY', ENETUNREACH: 'DEPENDENCY',
}

/** Whatever a handler threw, as a ToolError: system errors by their errno, everything else INTERNAL. */
export function toToolError(thrown: unknown): ToolError {
  if (ToolError.is(thrown)) return thrown
  if (!(thrown instanceof Error)) return new ToolError('INTERNAL', describeThrown(thrown), { cause: thrown })
  const { code, syscall, path } = thrown as NodeJS.ErrnoException
  const known = typeof code === 'string' && Object.hasOwn(SYSTEM_CODES, code) ? SYSTEM_CODES[code] : undefined
  const details = { name: thrown.name, ...(known && { errno: code, ...(syscall && { syscall }), ...(path && { path }) }) }
  return new ToolError(known ?? 'INTERNAL', thrown.message || thrown.name, { cause: thrown, details })
}

function describeThrown(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown || 'the tool threw an empty string'
  try {
    return `the tool threw ${thrown === null || typeof thrown !== 'object' ? String(thrown) : (JSON.stringify(thrown)?.slice(0, 200) ?? typeof thrown)}`
  } catch {
    return 'the tool threw something that cannot be shown'
  }
}
