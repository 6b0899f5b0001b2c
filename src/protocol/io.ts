/** A place to write text. */
export type TextSink = {
  /** Writes in order; small texts leave at once. */
  write(text: string): void
  /** Writes in order without blocking; resolves when the reader has taken it. */
  send(text: string): Promise<void>
  /**
   * Resolves when everything written has left the process; rejects once when it could not, unless
   * only the reader went away.
   */
  flush(): Promise<void>
  /**
   * From here on a reader that does not read holds nobody up: what it does not take waits in
   * memory.
   */
  unblock?(): void
  /**
   * True as soon as it is known that nothing can be written any more; what is written then is
   * dropped.
   */
  readonly closed?: boolean
  /** Another program reads it, and may show it where this one draws. */
  readonly isPipe?: boolean
  readonly isTTY: boolean
  readonly columns: number
  /** `device:inode` of what is behind it, where there is such a thing. */
  identity?(): string | undefined
}

/** Where input bytes come from. */
export type ByteSource = {
  readonly isTTY: boolean
  /** True when somebody reads it already: it has one owner. */
  readonly taken: boolean
  /** Chunks until the end. A second reader is a programming error. */
  bytes(): AsyncIterable<Uint8Array>
  /**
   * The same for servers, which read all the time: hands over each chunk at once, until the end. A
   * promise holds the source back.
   */
  each?(take: (chunk: Uint8Array) => void | Promise<void>): Promise<void>
  /** Lets the process end although nobody reads to the end. */
  close(): void
}

/** The terminal behind stderr, as something to draw on. */
export type Screen = {
  /** As they are now: a window can change. */
  readonly columns: number
  readonly rows: number
  /**
   * Called before the process is stopped (Ctrl-Z), and when it goes on and somebody else may have
   * written here. Gives the function that ends it.
   */
  onStop(before: () => void, after: () => void): () => void
  /**
   * Called when a signal asks the process to end, and when it ends, whatever ends it but SIGKILL;
   * what it writes has to leave at once. Gives the function that ends it.
   */
  onLeave(listener: () => void): () => void
}

/**
 * The process as a parameter: built in one place and handed down; nothing else touches `process`,
 * its streams or the clock.
 */
export type Io = {
  readonly stdin: ByteSource
  readonly stdout: TextSink
  readonly stderr: TextSink
  /** Opens the terminal behind stderr; absent where there is none that can be drawn on. */
  readonly screen?: (() => Promise<Screen>) | undefined
  readonly env: { readonly [name: string]: string | undefined }
  readonly cwd: string
  /** Wall clock in milliseconds. */
  now(): number
}
