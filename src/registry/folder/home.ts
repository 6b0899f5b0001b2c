import type { ChildServices } from '../child/services.ts'
import type { ErrorCodes } from '../manifests/error-codes.ts'

/** What the tools of one folder share. */
export type Home = {
  /** The real path. */
  readonly folder: string
  /** The name of the source. */
  readonly source: string
  readonly services: ChildServices
  /** The environment of the host, for `${NAME}`. */
  readonly env: { readonly [name: string]: string | undefined }
  /** Variables that the host gives to all tools of the folder. */
  readonly given: { readonly [name: string]: string }
  /** The same as they are written, with `${NAME}` in them: what is remembered may hold no secrets. */
  readonly written: { readonly [name: string]: string }
  /** Error codes that all tools of the folder share. */
  readonly codes: () => ErrorCodes
  /** A call found that a file is not what it was. */
  readonly onStale: () => void
}
