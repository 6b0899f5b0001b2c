import type { ApiRefusal } from '../../../src/views/model/api.ts'

/** Why the server refused, in its words. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly fix?: string,
    readonly field?: string,
  ) {
    super(message)
  }
}

/** Asks the server for a document. Rejects with ApiError. */
export function get<Document>(path: string, signal?: AbortSignal): Promise<Document> {
  return ask<Document>(path, { signal: signal ?? null })
}

/** Tells the server to do something. Rejects with ApiError. */
export function post<Document>(path: string, body: unknown = {}): Promise<Document> {
  return ask<Document>(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

async function ask<Document>(path: string, init: RequestInit): Promise<Document> {
  const response = await fetch(`/api${path}`, { ...init, credentials: 'same-origin' }).catch(
    (error: unknown) => {
      if (init.signal?.aborted) throw error
      throw new ApiError(0, 'OFFLINE', 'the server does not answer')
    },
  )
  const document = (await response.json().catch(() => undefined)) as unknown
  if (response.ok) return document as Document
  const { error } = (document ?? {}) as Partial<ApiRefusal>
  throw new ApiError(
    response.status,
    error?.code ?? 'INTERNAL',
    error?.message ?? `the server answered ${response.status}`,
    error?.suggestion?.fix,
    error?.field,
  )
}
