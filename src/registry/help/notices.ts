/** What a description says about a flag beside its meaning. */
export type Notices = {
  readonly default: string | null
  readonly choices: readonly string[]
  readonly repeatable: boolean
  readonly required: boolean
  /** A type that is named in the description: whether the flag takes a value. */
  readonly takesValue: boolean | undefined
  /** Other names of the flag that only the description tells. */
  readonly aliases: readonly string[]
}

// All of these are bounded, so that a description of any length costs time in its length only.
const DEFAULTS = [
  /\[defaults?(?: value)?(?: is|:|=) ?([^\]\n]{0,200})\]/i,
  /\(defaults?(?: value)?(?: is|:|=|s? to) ?"([^"\n]{0,200})"/i,
  /\(defaults?(?: value)?(?: is|:|=|s? to) ?([^()\n]{0,200}?)(?:\)|; )/i,
  /\(default "([^"\n]{0,200})"\)/,
  /\(default ([^\s()]{1,200})\)/i,
  /\(=([^()\s]{1,200})\)/,
  /(?:^|[.;,] |\n)defaults?(?: value)?(?: is|:| to|s to) ["'`]?([^\s"'`,;()]{1,100})["'`]?/i,
  /\bdefaults? to ["'`]?([^\s"'`,;()]{1,100})["'`]?/i,
]
const CHOICES = [
  /\[possible values: ([^\]]{1,2000})\]/i,
  /\[choices: ([^\]]{1,2000})\]/i,
  /\((?:choices|possible values|one of|allowed values|valid values|options)(?::|=| are:?)? ?([^()]{1,2000})\)/i,
  /<options: ([^>]{1,2000})>/i,
  /(?:^|\n|[.;] )(?:possible|allowed|valid|supported) values(?: are)?: ((?:[\w.+-]{1,40}(?:, | or |, or | and |\|)){1,50}[\w.+-]{1,40})/i,
]
const REPEATED =
  /\b(?:(?:can|may|could) be (?:repeated|(?:used|given|specified|passed|supplied|provided|set) (?:multiple|several|many|more than)|used more|listed multiple|given repeatedly)|multiple times|more than once|repeatable|several times|cumulative|multiple uses|(?:give|use|specify|repeat) (?:it |this |the option |this option )?(?:twice|repeatedly|again)|multiple allowed|allows multiple|repeat (?:for|to|this))/i
const TYPED = /\[(boolean|string|number|array|count)\]/
const ALIASES =
  /[[(](?:also|aka|alias|aliases|also called)(?::| as)? ((?:--?[A-Za-z?][\w-]{0,40}(?:, | or |, or )?){1,6})[\])]/
const FLAG_TYPE = /\btype: (bool|string|int32|int64|uint32|uint64|double)\b/

/** Reads the notices in a description; `lines` keeps its line ends. */
export function readNotices(lines: string): Notices {
  const text = lines.length > 6000 ? lines.slice(0, 6000) : lines
  const typed = TYPED.exec(text)?.[1] ?? FLAG_TYPE.exec(text)?.[1]
  return {
    default: findDefault(text),
    choices: findChoices(text),
    repeatable:
      (REPEATED.test(text) &&
        !/\b(?:cannot|can't|not) be (?:repeated|used more|given more|specified more)/i.test(
          text,
        )) ||
      typed === 'array' ||
      typed === 'count' ||
      /(?:^| )\[\+\]/.test(text),
    required:
      /[[(](?:required|mandatory)[\])]|(?:^|\s)REQUIRED(?:\s|$)|\(REQUIRED\)|\[required[;:,]/i.test(
        text,
      ) && !/(?:not|if|when|is) \(?required/i.test(text),
    aliases:
      ALIASES.exec(text)?.[1]
        ?.split(/,? or |, /)
        .filter((name) => name !== '') ?? [],
    takesValue: typed === undefined ? undefined : !['boolean', 'count', 'bool'].includes(typed),
  }
}

function findDefault(text: string): string | null {
  for (const pattern of DEFAULTS) {
    const found = pattern.exec(text)?.[1]?.trim()
    if (found === undefined || found === '') continue
    const bare = found.replace(/^(["'`])(.*)\1$/, '$2').replace(/[.:]$/, '')
    if (
      !/^(?:the|a|an|when|if|for|on|is|to|in|by|and|value|behaviou?r|none)$/i.test(
        bare.split(' ', 1)[0]!,
      )
    )
      return bare
  }
  return null
}

function findChoices(text: string): readonly string[] {
  for (const pattern of CHOICES) {
    const found = pattern.exec(text)?.[1]
    if (found === undefined) continue
    const parts = split(found)
    if (parts.length > 1 && parts.every((part) => /^[^\s"'<>[\](){}]{1,60}$/.test(part)))
      return parts
  }
  return listedBelow(text)
}

function split(text: string): string[] {
  const separator = text.includes('|') && !text.includes(',') ? '|' : ','
  const parts = text
    .replace(/,? (?:or|and) /g, ', ')
    .split(separator)
    .map((part) => part.trim().replace(/^(["'`])(.*)\1$/, '$2'))
  return [...new Set(parts.filter((part) => part !== ''))]
}

/** clap lists what is possible line by line. */
function listedBelow(text: string): string[] {
  const start = text.search(/(?:^|\n)possible values:\n/i)
  if (start < 0) return []
  const choices: string[] = []
  for (const line of text.slice(start).split('\n').slice(1)) {
    const found = /^- ([^\s:]{1,60})(?::|$)/.exec(line)
    if (found) choices.push(found[1]!)
    else if (line.startsWith('- ') || (line === '' && choices.length > 0)) break
  }
  return choices.filter((choice) => choice !== '')
}
