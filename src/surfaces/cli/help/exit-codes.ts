import { exitCodeOf, factsOf } from '../../../contract/errors.ts'
import type { DeclaredError } from '../../../contract/errors.ts'
import { EXIT_STATUSES } from '../../../contract/exit-statuses.ts'
import type { Row } from './layout.ts'

/** All exit codes in one sentence. */
export function exitCodeText(): string {
  return EXIT_STATUSES.map(({ status, meaning }) => `${status} ${meaning}`).join(', ')
}

/** The errors that a tool declares, each with its exit status. */
export function errorRows(errors: { readonly [code: string]: DeclaredError }): Row[] {
  return Object.entries(errors).map(([code, declared]) => {
    const facts = factsOf(code, declared)
    const status = exitCodeOf({ code, ...facts })
    return {
      term: code,
      text: declared.message,
      notes: [`[exit ${status}${facts.retryable ? ', may work later' : ''}]`],
    }
  })
}
