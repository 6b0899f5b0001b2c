import type { Model } from '../model-type.ts'

const known = new WeakMap<Model, readonly string[]>()

/** Remembers what a model may not tell: its key. Not on the model itself, which people print. */
export function keepSecrets<Kept extends Model>(model: Kept, secrets: readonly string[]): Kept {
  known.set(model, secrets)
  return model
}

/** What a model may not tell. */
export function secretsOf(model: Model): readonly string[] {
  return known.get(model) ?? []
}
