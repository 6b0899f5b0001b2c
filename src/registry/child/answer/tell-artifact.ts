import type { Context } from '../../../contract/context.ts'
import type { Artifact } from '../../../contract/outcome.ts'

const told = new WeakMap<Context, Set<string>>()

/** Tells the caller of an artifact of a child, each only once: tools tell theirs while they work, and again in their answer. */
export function tellArtifact({ name, uri }: Artifact, ctx: Context): void {
  const known = told.get(ctx) ?? new Set()
  told.set(ctx, known)
  const key = JSON.stringify([name, uri])
  if (!known.has(key)) ctx.artifact(name, uri)
  known.add(key)
}
