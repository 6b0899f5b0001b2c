import { ERROR_TABLE, factsOf, findRow, httpStatusOf } from '../../../contract/errors.ts'
import type { DeclaredError, ErrorRow } from '../../../contract/errors.ts'
import type { JsonObject } from '../../../contract/json.ts'
import { schemaRef } from './schemas.ts'

// What the surface itself refuses, besides the table.
const REFUSALS: { readonly [status: string]: string } = {
  405: 'The path does not answer this method; `Allow` names those that it does.',
  413: 'The body is longer than the server takes.',
  415: 'The body is not application/json.',
}

/** Answers that every operation shares, one for each status that an error can have. */
export function sharedResponses(token: boolean): { readonly [name: string]: JsonObject } {
  const refusals: { readonly [status: string]: string } = {
    ...REFUSALS,
    ...(token && { 401: 'The bearer token is missing or wrong.' }),
  }
  return Object.fromEntries(
    statuses(token).map((status) => {
      const codes = Object.entries<ErrorRow>(ERROR_TABLE)
        .filter(([, row]) => row.http === status)
        .map(([code, { meaning }]) => `\`${code}\`: ${meaning}.`)
      const own = refusals[status]
      return [
        nameOf(status),
        {
          description: [...(own === undefined ? [] : [own]), ...codes].join(' '),
          content: { 'application/json': { schema: schemaRef('Failure') } },
          ...(status === 401 && {
            headers: { 'WWW-Authenticate': { schema: { type: 'string' } } },
          }),
          ...(status === 405 && { headers: { Allow: { schema: { type: 'string' } } } }),
        },
      ]
    }),
  )
}

/** References to the shared answers, by status. */
export function failureResponses(token: boolean): { readonly [status: string]: JsonObject } {
  return Object.fromEntries(
    statuses(token).map((status) => [
      String(status),
      { $ref: `#/components/responses/${nameOf(status)}` },
    ]),
  )
}

/** What a tool says about errors of its own, each with its status. */
export function describeOwnErrors(errors: { readonly [code: string]: DeclaredError }): string {
  const lines = Object.entries(errors).map(([code, declared]) => {
    const { category, retryable } = factsOf(code, declared)
    return `- \`${findRow(code)?.code ?? code}\` (${httpStatusOf({ code, category, retryable })}): ${declared.message}`
  })
  return lines.length === 0 ? '' : `Errors of its own:\n\n${lines.join('\n')}`
}

function statuses(token: boolean): readonly number[] {
  const known = [
    ...Object.values(ERROR_TABLE).map(({ http }) => http),
    ...Object.keys(REFUSALS).map(Number),
    ...(token ? [401] : []),
  ]
  return [...new Set(known)].sort((left, right) => left - right)
}

function nameOf(status: number): string {
  return `Failure${status}`
}
