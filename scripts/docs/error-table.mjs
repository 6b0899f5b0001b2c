// The table of codes in docs/errors.md, from the one in the source.
import { ERROR_TABLE } from 'toolable'

/** One row for each code. */
export function errorTable() {
  const rows = Object.entries(ERROR_TABLE).map(([code, row]) => [
    `\`${code}\``,
    row.meaning,
    row.category,
    row.class,
    code === 'INVALID_INPUT'
      ? '2 by flags, 65 by JSON'
      : code === 'USAGE'
        ? '2, or 64 if unreadable'
        : String(row.exit),
    String(row.http),
    row.recoverable ? 'yes' : 'no',
    row.retryable ? 'yes' : 'no',
    [...row.numbers, ...(row.protocol ?? [])].map((name) => `\`${name}\``).join(' '),
    row.advice,
  ])
  const head = [
    'code',
    'meaning',
    'category',
    'class',
    'exit',
    'HTTP',
    'recoverable',
    'retryable',
    'other names',
    'advice to an agent',
  ]
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}
