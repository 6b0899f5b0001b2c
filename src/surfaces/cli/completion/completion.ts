/** One thing that the word under the cursor may become. */
export type Candidate = { readonly value: string; readonly description?: string }

/** What a shell is told: the candidates, and whether it should add names of files or directories. */
export type Completion = { readonly candidates: readonly Candidate[]; readonly directive: 'files' | 'directories' | 'none' }

/** What the completion scripts read: a line `value<TAB>description` for each candidate, and `:directive` as the last line. */
export function formatCompletion({ candidates, directive }: Completion): string {
  const lines = candidates.filter(({ value }) => isLine(value)).map(({ value, description }) => {
    const text = description === undefined ? '' : description.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()
    return text === '' ? value : `${value}\t${text}`
  })
  return [...lines, `:${directive}`, ''].join('\n')
}

// What holds a control character could not be told from the protocol, nor safely be written to a terminal.
function isLine(value: string): boolean {
  return value !== '' && !/[\p{Cc}\p{Surrogate}]/u.test(value)
}
