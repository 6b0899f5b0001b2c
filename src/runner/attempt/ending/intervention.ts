import type { ToolError } from '../../../contract/tool-error.ts'

/** Why the runner ended a subject itself. */
export type Intervention =
  | { readonly why: 'deadline' | 'heartbeat'; readonly seconds: number }
  | { readonly why: 'cancelled'; readonly reason: string }
  | { readonly why: 'output'; readonly bytes: number }
  | { readonly why: 'failure'; readonly error: ToolError }
