import type { Annotations } from '../../contract/manifest.ts'

/** Hints about behaviour under the names that agents know. What is unknown is left out. */
export type AnnotationHints = {
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/** The annotations of a tool in hint form. */
export function annotationHints({
  readOnly,
  destructive,
  idempotent,
  openWorld,
}: Annotations): AnnotationHints {
  return {
    ...(readOnly !== undefined && { readOnlyHint: readOnly }),
    ...(destructive !== undefined && { destructiveHint: destructive }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
    ...(openWorld !== undefined && { openWorldHint: openWorld }),
  }
}
