/** Who a piece of content is for, and how much it matters. */
export type ContentAnnotations = {
  readonly audience?: readonly ('user' | 'assistant')[]
  /** From 0 (may be left out) to 1 (has to be seen). */
  readonly priority?: number
  /** An ISO 8601 date. */
  readonly lastModified?: string
}

type Annotated = { readonly annotations?: ContentAnnotations }

export type TextContent = Annotated & { readonly type: 'text'; readonly text: string }
/** A picture; `data` is base64. */
export type ImageContent = Annotated & {
  readonly type: 'image'
  readonly data: string
  readonly mimeType: string
}
/** Sound; `data` is base64. */
export type AudioContent = Annotated & {
  readonly type: 'audio'
  readonly data: string
  readonly mimeType: string
}
/** A resource whose contents travel along; `blob` is base64. */
export type EmbeddedResource = Annotated & {
  readonly type: 'resource'
  readonly resource:
    | { readonly uri: string; readonly mimeType?: string; readonly text: string }
    | { readonly uri: string; readonly mimeType?: string; readonly blob: string }
}
/** A resource that the reader may fetch by its address. */
export type ResourceLink = Annotated & {
  readonly type: 'resource_link'
  readonly uri: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  readonly size?: number
}

/** One piece of what is shown to a model, in the form that MCP carries. */
export type ContentBlock =
  TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink
