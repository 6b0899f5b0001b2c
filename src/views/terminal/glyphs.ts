/** The characters that a tree is drawn with. */
export type Glyphs = {
  readonly ok: string
  readonly bad: string
  readonly waiting: string
  readonly pending: string
  readonly skipped: string
  readonly cancelled: string
  /** One after the other: something goes on. */
  readonly spinner: readonly string[]
  readonly full: string
  readonly empty: string
  /** Between facts of a line. */
  readonly dot: string
  /** Stands for what was cut off, in one column. */
  readonly cut: string
  /** Before lines of a log. */
  readonly rule: string
}

/** For terminals that show everything. */
export const UNICODE: Glyphs = {
  ok: '✓',
  bad: '✗',
  waiting: '?',
  pending: '○',
  skipped: '↷',
  cancelled: '⊘',
  spinner: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'],
  full: '█',
  empty: '░',
  dot: '·',
  cut: '…',
  rule: '│',
}

/** For the others. */
export const ASCII: Glyphs = {
  ok: '+',
  bad: 'x',
  waiting: '?',
  pending: 'o',
  skipped: '>',
  cancelled: '-',
  spinner: ['|', '/', '-', '\\'],
  full: '#',
  empty: '.',
  dot: '-',
  cut: '~',
  rule: '|',
}

/** Whether the environment says that its terminal has no characters beyond ASCII; where it says nothing, it has. */
export function hasUnicode(env: { readonly [name: string]: string | undefined }): boolean {
  if (env['TERM'] === 'dumb' || env['TERM'] === 'linux') return false
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG']
  return !locale || /utf-?8/i.test(locale)
}
