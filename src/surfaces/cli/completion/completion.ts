/** One thing that the word under the cursor may become. */
export type Candidate = { readonly value: string; readonly description?: string }

/** What a shell is told: the candidates, and whether it should add names of files or directories. */
export type Completion = {
  readonly candidates: readonly Candidate[]
  readonly directive: 'files' | 'directories' | 'none'
}

const LONGEST = 80

/** What the completion scripts read: a line `value<TAB>description` for each candidate, and `:directive` as the last line. */
export function formatCompletion({ candidates, directive }: Completion): string {
  const lines = candidates
    .filter(({ value }) => isLine(value))
    .map(({ value, description }) => {
      const text = shorten(description ?? '')
      return text === '' ? value : `${value}\t${text}`
    })
  return [...lines, `:${directive}`, ''].join('\n')
}

// Shells show a description beside the candidate, on the same line.
function shorten(description: string): string {
  const line = description.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  const characters = [...line]
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST - 1).join('')}…` : line
}

// What holds a control character could not be told from the protocol, nor safely be written to a terminal.
function isLine(value: string): boolean {
  return value !== '' && !/[\p{Cc}\p{Surrogate}]/u.test(value)
}
