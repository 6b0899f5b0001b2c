import { ERROR_TABLE, exitCodeOf, factsOf, findRow } from '../../contract/errors.ts'
import type { CodeFacts, DeclaredError, ErrorRow } from '../../contract/errors.ts'

/** What is told about one code before it ever happens. */
export type DescribedError = {
  readonly category: string
  readonly exit: number
  readonly recoverable: boolean
  readonly retryable: boolean
  readonly message: string
  /** What an agent should do by default. */
  readonly advice: string
}

type Declared = { readonly [code: string]: DeclaredError }
type Described = { readonly [code: string]: DescribedError }

/** Every code that a tool can fail with: the table's, then its own. */
export function describeErrors(declared: Declared): Described {
  return {
    ...Object.fromEntries(
      Object.entries(ERROR_TABLE).map(([code, row]) => [code, describeRow(row)]),
    ),
    ...describeDeclared(declared),
  }
}

/** The codes that a tool itself declares. Of a code of the table it changes the text only. */
export function describeDeclared(declared: Declared): Described {
  return Object.fromEntries(
    Object.entries(declared).map(([code, own]) => {
      const known = findRow(code)
      return known
        ? [known.code, { ...describeRow(known.row), message: own.message }]
        : [code, describeOwn(code, own)]
    }),
  )
}

function describeRow({
  category,
  exit,
  recoverable,
  retryable,
  meaning,
  advice,
}: ErrorRow): DescribedError {
  return { category, exit, recoverable, retryable, message: meaning, advice }
}

function describeOwn(code: string, declared: DeclaredError): DescribedError {
  const { category, recoverable, retryable } = factsOf(code, declared)
  return {
    category,
    exit: exitCodeOf({ code, category, retryable }),
    recoverable,
    retryable,
    message: declared.message,
    advice: adviceFor({ category, recoverable, retryable }),
  }
}

function adviceFor({ recoverable, retryable }: CodeFacts): string {
  if (retryable) return ERROR_TABLE.DEPENDENCY.advice
  return recoverable
    ? 'Change the request as the message says and call again'
    : 'Do not retry; tell the user'
}
