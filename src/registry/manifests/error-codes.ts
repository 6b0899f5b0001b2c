import { findRow } from '../../contract/errors.ts'
import type { DeclaredError, ErrorCategory } from '../../contract/errors.ts'
import { isObject } from '../../contract/json.ts'
import { own } from './facts.ts'
import type { Reading } from '../../contract/documents/reading.ts'
import { refuse } from '../../contract/documents/reading.ts'

export type ErrorCodes = { readonly [code: string]: DeclaredError }

const CATEGORIES: { readonly [className: string]: ErrorCategory } = {
  user_error: 'input',
  policy_error: 'auth',
  retryable: 'runtime',
  infra_error: 'runtime',
  unknown: 'internal',
}

/** Reads `registry/error_codes.yaml`: `codes: {E_MY_THING: {class: user_error, retryable: false}}`. */
export function readErrorCodes(data: unknown): Reading<ErrorCodes> {
  const codes = isObject(data) ? own(data, 'codes') : undefined
  if (!isObject(codes))
    return refuse(
      'error-codes',
      "has no mapping 'codes'",
      'Write codes: {E_MY_THING: {class: user_error, retryable: false}}',
    )
  const declared: { [code: string]: DeclaredError } = {}
  for (const [code, given] of Object.entries(codes)) {
    if (!/^[A-Z][A-Z0-9_]{0,63}$/.test(code))
      return refuse(
        'error-codes',
        `has the code '${code.slice(0, 80)}'`,
        'Write codes in capital letters, digits and _, like E_MY_THING',
      )
    const facts = isObject(given) ? given : {}
    const className = own(facts, 'class') ?? 'unknown'
    if (typeof className !== 'string' || !Object.hasOwn(CATEGORIES, className))
      return refuse(
        'error-codes',
        `has the class ${JSON.stringify(className)?.slice(0, 40)} at ${code}`,
        `Write one of ${Object.keys(CATEGORIES).join(', ')}`,
      )
    const retryable = own(facts, 'retryable')
    const message = own(facts, 'message') ?? own(facts, 'description')
    declared[code] = {
      category: CATEGORIES[className]!,
      message:
        typeof message === 'string' && message.trim() !== ''
          ? message
          : (findRow(code)?.row.meaning ?? wordsOf(code)),
      retryable: typeof retryable === 'boolean' ? retryable : className === 'retryable',
      recoverable: className === 'user_error',
    }
  }
  return { value: declared }
}

function wordsOf(code: string): string {
  const words = code.replace(/^E_/, '').replaceAll('_', ' ').toLowerCase().trim()
  return words === '' ? code : words[0]!.toUpperCase() + words.slice(1)
}
