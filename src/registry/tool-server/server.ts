/** A tool server with everything replaced and checked. */
export type ToolServer = {
  readonly name: string
  /** `tool server 'x'`, for messages. */
  readonly what: string
  readonly location: string
  readonly url: URL
  readonly headers: { readonly [name: string]: string }
  /** Milliseconds. */
  readonly listTimeout: number
  readonly callTimeout: number
}

/** The address of one of its two functions: behind its path, before its query. */
export function functionOf({ url }: ToolServer, name: 'list_tools' | 'call_tool'): URL {
  const address = new URL(url)
  address.pathname = `${address.pathname.replace(/\/+$/, '')}/${name}`
  return address
}
