export declare const arrows: Readonly<Record<string, readonly string[]>>
export declare const processFiles: readonly string[]
export declare function layerOf(file: string): string | undefined
export declare function allowedLayers(layer: string): string[]
export declare function explainForbiddenImport(
  importer: string,
  imported: string,
): string | undefined
