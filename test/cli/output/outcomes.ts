import type {
  ErrorObject,
  FailureOutcome,
  OutcomeMeta,
  PartialOutcome,
  SuccessOutcome,
} from '../../../src/protocol/outcome.ts'

export const meta: OutcomeMeta = { tool: 'files.find', version: '1.2.0', duration_ms: 3 }

export const success = (result: unknown, more: Partial<SuccessOutcome> = {}): SuccessOutcome => ({
  ok: true,
  status: 'success',
  result,
  meta,
  ...more,
})

export const notFound: ErrorObject = {
  code: 'NOT_FOUND',
  category: 'state',
  message: 'No folder /x',
  recoverable: true,
  retryable: false,
  suggestion: {
    action: 'retry_with_modified_input',
    fix: 'Give a folder that exists',
    input: { root: '.' },
    applicability: 'maybe_incorrect',
  },
  field: 'root',
  details: { given: '/x' },
}

export const failure: FailureOutcome = { ok: false, status: 'error', error: notFound, meta }

export const partly: PartialOutcome = {
  ok: true,
  status: 'partial',
  result: ['a', 'b'],
  errors: [notFound],
  summary: { total: 3, succeeded: 2, failed: 1, recoverable_failures: 1 },
  meta,
}

export const files = [
  { path: 'src/index.ts', size: 12, tags: ['a'] },
  { path: 'README.md', size: 10000, note: 'read | me' },
]

export const renderInput = (input: { readonly [field: string]: unknown }) =>
  `prog find --root ${String(input['root'])}`
