import { ToolError } from '../../../contract/tool-error.ts'
import type { ToolLine } from '../../output/judge-line.ts'
import type { SubjectEnd } from '../subject.ts'
import type { Ending } from './ending.ts'
import { failWith, ownStatus } from './ending.ts'
import type { Intervention } from './intervention.ts'

/** The ending of an attempt that the runner has stopped. What the tool said afterwards does not count, except that it was cancelled. */
export function endByUs(
  intervention: Intervention,
  end: SubjectEnd,
  last: ToolLine | undefined,
): Ending {
  switch (intervention.why) {
    case 'deadline':
      return failWith(
        new ToolError(
          'TIMEOUT',
          `the tool was not done after ${intervention.seconds} seconds, and was ended`,
          { suggestion: 'Give it more time with --timeout, or less to do' },
        ),
        'E_DEADLINE',
      )
    case 'heartbeat':
      return failWith(
        new ToolError(
          'HEARTBEAT_MISSED',
          `the tool gave no sign of life for ${intervention.seconds} seconds, and was ended`,
          { suggestion: 'Let it emit heartbeats, or allow longer silence with HEARTBEAT_GRACE_S' },
        ),
      )
    case 'output':
      return failWith(
        new ToolError(
          'OUTPUT_LIMIT',
          `the tool wrote more than ${intervention.bytes} bytes, and was ended`,
          { suggestion: 'Let it write to a file in its workspace, or raise resources.output_mb' },
        ),
      )
    case 'failure':
      return { ...failWith(intervention.error), ...statusOfSignal(intervention.error) }
    case 'cancelled':
      return {
        state: 'cancelled',
        rc: ownStatus(end) || 130,
        again: false,
        lines: [
          last?.type === 'cancelled' ? last : { type: 'cancelled', reason: intervention.reason },
        ],
      }
  }
}

// Whose process was told to go by a signal passes that on by its status.
function statusOfSignal({ code, details }: ToolError): { readonly rc?: number } {
  const status = code === 'INTERRUPTED' ? details?.['exit_status'] : undefined
  return typeof status === 'number' ? { rc: status } : {}
}
