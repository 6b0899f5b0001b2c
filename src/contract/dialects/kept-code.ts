import { findRow } from '../errors.ts'

type Details = { readonly [key: string]: unknown }

/** The details of an error together with what its written form would lose: the code, where it reads back as another one, and the field. */
export function keepFacts(
  error: { readonly code: string; readonly field?: string; readonly details?: Details },
  written: string,
): Details | undefined {
  const readsBackAs = findRow(written)?.code ?? written
  const kept = {
    ...error.details,
    ...(error.field !== undefined && { field: error.field }),
    ...(readsBackAs !== error.code && { code: error.code }),
  }
  return Object.keys(kept).length > 0 ? kept : undefined
}
