export type Target =
  | { readonly url: string }
  | {
      readonly command: string
      readonly args: string[]
      readonly env: { [name: string]: string }
      readonly cwd?: string
    }
export type Called = {
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
}
export type Session = {
  readonly asked: readonly any[]
  readonly heard: readonly { readonly method: string; readonly params?: any }[]
  readonly client: any
  readonly version: string | undefined
  list(): Promise<readonly any[]>
  call(
    name: string,
    args?: object,
    options?: {
      progress?: { progress: number; total?: number; message?: string }[]
      signal?: AbortSignal
    },
  ): Promise<Called>
  resources(): Promise<readonly any[]>
  templates(): Promise<readonly any[]>
  read(uri: string): Promise<readonly any[]>
  prompts(): Promise<readonly any[]>
  prompt(name: string, args?: object): Promise<readonly any[]>
  complete(ref: object, argument: object): Promise<readonly string[]>
  close(): Promise<void>
}
export type ConnectOptions = {
  readonly answers?: readonly object[]
  readonly roots?: readonly string[]
  readonly capabilities?: readonly ('elicitation' | 'sampling' | 'roots')[]
}
export type Connect = (target: Target, options?: ConnectOptions) => Promise<Session>
export declare function sdk(mode: 'legacy' | 'auto' | { readonly pin: string }): Connect
export declare const aiSdk: Connect
