import { ToolError } from '../../contract/tool-error.ts'
import type { ChildEnd } from '../../process/child-type.ts'

/** The failure of a call whose program died under it. Whether it did its work nobody knows, so that it is not made again by itself. */
export function diedInCall(what: string, end: ChildEnd, said: string): ToolError {
  const stderr = said.trim()
  return new ToolError(
    'DEPENDENCY',
    `${what}: the program ${howItEnded(end)} in the middle of the call`,
    {
      details: {
        ...(end.status !== null && { status: end.status }),
        ...(end.signal !== null && { signal: end.signal }),
        ...(stderr !== '' && { stderr }),
      },
      suggestion: {
        action: 'retry_with_modified_input',
        fix: 'Look whether the work was done, then call again: the program is started anew',
      },
    },
  )
}

/** Why a program that was started does not serve. */
export function whyUnavailable(end: ChildEnd, said: string): string {
  if (end.reason === 'not-started')
    return `it could not be started: ${end.problem?.message ?? 'no reason is known'}`
  const stderr = said.trim()
  return `it ${howItEnded(end)} instead of serving${stderr === '' ? '' : `: ${stderr}`}`
}

function howItEnded({ reason, status, signal }: ChildEnd): string {
  if (reason === 'line-limit') return 'was ended because a line of it was too long'
  if (reason === 'cancelled') return 'was ended because it did not react'
  return signal === null ? `exited with ${status}` : `was killed by ${signal}`
}
