/** A value as a configuration file holds it. */
export type ConfigObject = { readonly [key: string]: unknown }

/**
 * What of a file is ours besides the entry itself, so that taking the entry out again leaves the
 * bytes that were there before.
 */
export type CreatedParts = {
  /** `file`: there was none; `root`: the file was blank; `container`: it had no such key. */
  readonly part?: 'file' | 'root' | 'container'
  /** The braces around what we added were on one line. */
  readonly opened?: boolean
  /** How many folders above the file we made. */
  readonly folders?: number
}

/**
 * How the files of an agent are read and edited: as text, because what others wrote in them stays
 * as it is, comments and white space included.
 */
export type ConfigFormat = {
  /** What the file is called in messages. */
  readonly name: string
  /** The whole value, or what is wrong with the text. A blank text is an empty configuration. */
  parse(
    text: string,
    container: string,
  ): { readonly value: ConfigObject } | { readonly problem: string }
  /** What `add` will have to make besides the entry. */
  missing(text: string, container: string): CreatedParts
  /** The text with one more entry in the container. */
  add(text: string, container: string, name: string, entry: ConfigObject): string
  /**
   * The text with another value for an entry that is there; undefined when it is written in a way
   * that cannot be cut out.
   */
  replace(text: string, container: string, name: string, entry: ConfigObject): string | undefined
  /**
   * The text without the entry and without what was made for it, as far as that is empty now;
   * undefined as above.
   */
  remove(text: string, container: string, name: string, made: CreatedParts): string | undefined
}

/** The line break that a text uses. */
export function getLineBreak(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n'
}
