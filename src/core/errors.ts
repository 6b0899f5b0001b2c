/** Errors of calls: anything that was thrown becomes a ToolError. */

import { types } from 'node:util'
import type { AnyErrorCode } from '../protocol/tool-error.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'

const ERRNO_CODES: { readonly [errno: string]: AnyErrorCode } = {
  ENOENT: 'NOT_FOUND',
  ENOTDIR: 'NOT_FOUND',
  EEXIST: 'CONFLICT',
  EACCES: 'PERMISSION',
  EPERM: 'PERMISSION',
  EROFS: 'PERMISSION',
  ENOSPC: 'DISK_FULL',
  EDQUOT: 'DISK_FULL',
  ECONNREFUSED: 'DEPENDENCY',
  ECONNRESET: 'DEPENDENCY',
  EPIPE: 'DEPENDENCY',
  ENOTFOUND: 'DEPENDENCY',
  EAI_AGAIN: 'DEPENDENCY',
  ETIMEDOUT: 'DEPENDENCY',
  EHOSTUNREACH: 'DEPENDENCY',
  ENETUNREACH: 'DEPENDENCY',
}

/** Anything thrown as a ToolError: system errors by their errno, others INTERNAL. Never throws. */
export function toToolError(thrown: unknown): ToolError {
  try {
    return convertThrown(thrown)
  } catch {
    // Proxies and getters may throw at any look at them.
    return new ToolError('INTERNAL', 'the tool threw something that cannot be shown', {
      cause: thrown,
    })
  }
}

function convertThrown(thrown: unknown): ToolError {
  if (thrown instanceof ToolError) return thrown
  if (ToolError.is(thrown) && typeof thrown.code === 'string')
    return new ToolError(thrown.code, String(thrown.message), { ...thrown, cause: thrown })
  if (!isErrorLike(thrown))
    return new ToolError('INTERNAL', describeThrown(thrown), { cause: thrown })
  const system = findSystemError(thrown)
  const message = String(thrown.message || thrown.name)
  const details = compact({
    name: String(thrown.name),
    errno: system?.code,
    syscall: system?.syscall || undefined,
    path: system?.path || undefined,
  })
  return new ToolError(
    system ? ERRNO_CODES[system.code]! : 'INTERNAL',
    system && system !== thrown ? `${message}: ${system.message || system.code}` : message,
    { cause: thrown, details },
  )
}

/** The error for a mistake of an author, which no caller can correct; `fix` tells the author. */
export function createAuthorError(
  message: string,
  fix: string,
  details?: { readonly [key: string]: unknown },
): ToolError {
  const suggestion = { action: 'abort', fix } as const
  return new ToolError('INTERNAL', message, compact({ details, suggestion }))
}

type SystemError = NodeJS.ErrnoException & { readonly code: string }

// `fetch failed` says what happened only in its cause.
function findSystemError(error: Error): SystemError | undefined {
  return [error, error.cause].find(
    (candidate): candidate is SystemError =>
      isErrorLike(candidate) &&
      Object.hasOwn(ERRNO_CODES, String((candidate as NodeJS.ErrnoException).code)),
  )
}

// Errors of another realm are no instances of ours.
function isErrorLike(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value)
}

function describeThrown(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown || 'the tool threw an empty string'
  const shown =
    thrown !== null && typeof thrown === 'object'
      ? (JSON.stringify(thrown) ?? 'an object')
      : String(thrown)
  return `the tool threw ${shown.slice(0, 200)}`
}
