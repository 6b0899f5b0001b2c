import type { DialectContext } from '../../../src/protocol/output-protocols.ts'
import type { FailOptions } from '../../../src/protocol/tool-error.ts'
import { ToolError } from '../../../src/protocol/tool-error.ts'
import type {
  FailureOutcome,
  OutcomeMeta,
  PartialOutcome,
  SuccessOutcome,
} from '../../../src/protocol/outcome.ts'

export const meta: OutcomeMeta = {
  tool: 'file-tools.find_files',
  version: '1.2.0',
  duration_ms: 12_400,
}
export const context: DialectContext = {
  tool: 'find_files',
  runId: 'r-123',
  now: () => '2025-08-30T12:34:56Z',
  input: { input: 'data.json' },
}
export const readContext = { tool: 'find_files' }

export const success = (result: unknown): SuccessOutcome => ({
  ok: true,
  status: 'success',
  result,
  meta,
})

export const failure = (code: string, message: string, options?: FailOptions): FailureOutcome => ({
  ok: false,
  status: 'error',
  error: new ToolError(code, message, options).toObject(),
  meta,
})

export const partial: PartialOutcome = {
  ok: true,
  status: 'partial',
  result: { files: ['a', 'b'] },
  errors: [new ToolError('NOT_FOUND', 'No file c').toObject()],
  summary: { total: 3, succeeded: 2, failed: 1, recoverable_failures: 1 },
  meta,
}

export const noFiles = failure('E3001', "No files matched pattern '*.rs' in /project/src", {
  suggestion: {
    action: 'retry_with_modified_input',
    fix: "The directory contains .py files. Try pattern '*.py' instead.",
    example: "find-files '*.py' --root /project/src",
    applicability: 'maybe_incorrect',
  },
  details: { pattern: '*.rs', root: '/project/src', available_extensions: ['.py', '.txt', '.md'] },
})

/** What a reader on the other side of a pipe sees: the JSON text, parsed. */
export const overTheWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
