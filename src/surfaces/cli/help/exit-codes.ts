import { exitCodeOf, factsOf } from '../../../contract/errors.ts'
import type { DeclaredError } from '../../../contract/errors.ts'
import type { Row } from './layout.ts'

/** What the exit status of a call means, in a word or two each. */
export const EXIT_CODES: readonly (readonly [status: number, meaning: string])[] = [
  [0, 'success'],
  [1, 'failed'],
  [2, 'wrong arguments'],
  [64, 'unreadable arguments'],
  [65, 'wrong JSON input'],
  [66, 'not found'],
  [69, 'unavailable'],
  [73, 'conflict or full disk'],
  [75, 'try again later'],
  [77, 'not allowed or not confirmed'],
  [78, 'wrong configuration'],
  [124, 'out of time'],
  [130, 'interrupted'],
  [143, 'terminated'],
]

/** All exit codes in one sentence. */
export function exitCodeText(): string {
  return EXIT_CODES.map(([status, meaning]) => `${status} ${meaning}`).join(', ')
}

/** The errors that a tool declares, each with its exit status. */
export function errorRows(errors: { readonly [code: string]: DeclaredError }): Row[] {
  return Object.entries(errors).map(([code, declared]) => {
    const facts = factsOf(code, declared)
    const status = exitCodeOf({ code, ...facts })
    return { term: code, text: declared.message, notes: [`[exit ${status}${facts.retryable ? ', may work later' : ''}]`] }
  })
}
