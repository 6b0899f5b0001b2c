import type { LineLook } from './layout.ts'

/** What the lines under a heading are about. */
export type SectionKind =
  'intro' | 'options' | 'commands' | 'positionals' | 'examples' | 'about' | 'other'

export type Heading = { readonly title: string; readonly kind: SectionKind | undefined }

const CAPITALS = /^[A-Z][A-Z0-9 ,/&()'_-]*[A-Z)]:?$/
const KEYWORD = /\b(?:options?|commands?|flags?|arguments?|subcommands?|switches|parameters)\b/i
const WORDS_AT_MOST = 12

/** Reads a line as a heading of what follows it, or gives undefined. */
export function headingOf(
  look: LineLook,
  next: LineLook | undefined,
  afterBlank: boolean,
  inside: SectionKind,
): Heading | undefined {
  const text = look.text.trim()
  if (text.length > 120 || text.includes('   ') || next === undefined) return undefined
  const marked = /^(?:#{1,6} +|\*\*|<)(.*?)(?:\*\*|>)?:?$/.exec(text)
  const title = (marked?.[1] ?? text).replace(/:$/, '').trim()
  if (title === '' || title.split(' ').length > WORDS_AT_MOST || !/\p{L}/u.test(title))
    return undefined
  const heading = { title, kind: kindOf(title) }
  if (text.endsWith(':') && !text.includes('  ')) return heading
  if (/^(?:#{1,6} |\*\*.*\*\*)/.test(text) || /^<[A-Z][a-z]+>$/.test(text)) return heading
  const alone = inside === 'positionals' && look.indent > 0
  if (
    CAPITALS.test(text) &&
    look.indent <= 3 &&
    title.length >= 3 &&
    !alone &&
    (next.indent > look.indent || heading.kind !== undefined)
  )
    return heading
  const leads =
    next.indent > look.indent || next.flagAt >= 0 || /^\S+ {2,}\S+ {2,}\S/.test(next.text)
  return KEYWORD.test(title) &&
    afterBlank &&
    leads &&
    look.indent <= 2 &&
    !/[.,;]$/.test(text) &&
    title.split(' ').length <= 10 &&
    !text.includes('  ')
    ? heading
    : undefined
}

/** What a title promises; undefined where it does not say. */
export function kindOf(title: string): SectionKind | undefined {
  const words = title.toLowerCase()
  if (/\bdefaults? to$|\bexamples?\b|\be\.g\.|\bsamples?\b/.test(words)) return 'examples'
  if (/^(?:description|name|about|overview|summary)$/.test(words)) return 'about'
  if (
    /\b(?:environment|exit|see also|authors?|bugs?|copyright|topics|learn more|reporting|variables|notes?|aliases)\b/.test(
      words,
    )
  )
    return 'other'
  const options =
    /\b(?:options?|flags?|switch|switches|optional arguments|named arguments|parameters?)\b/.test(
      words,
    )
  if (
    /\b(?:commands?|subcommands?|sub-commands?|subcmds?|verbs?|applets?|functions|tasks)\b/.test(
      words,
    )
  )
    return options && /(?:options?|flags?)(?: \(.*\))?$/.test(words) ? 'options' : 'commands'
  if (options) return 'options'
  return /\b(?:arguments?|positionals?|operands?|args?)\b/.test(words) && !/ -/.test(words)
    ? 'positionals'
    : undefined
}
