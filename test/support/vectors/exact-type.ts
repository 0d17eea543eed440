import {
  type BasicType,
  type CompositeTypeAny,
  ContainerType,
  ListBasicType,
  ListCompositeType,
  ProgressiveContainerType,
  ProgressiveListBasicType,
  ProgressiveListCompositeType,
  type Type,
  UintBigintType,
  UintNumberType,
  VectorBasicType,
  VectorCompositeType,
} from "@chainsafe/ssz";

type AnyType = Type<unknown>;
type AnyBasicType = BasicType<unknown>;

/**
 * Returns the type with all integers of 64 bits as BigInt. The library's types read them as numbers, which are exact up
 * to 2^53 only, while `ssz_static` has random values.
 */
export function exactType(type: AnyType): CompositeTypeAny {
  return convert(type) as CompositeTypeAny;
}

function convert(type: AnyType): AnyType {
  if (type instanceof UintNumberType) return type.byteLength === 8 ? new UintBigintType(8) : type;
  if (type instanceof ContainerType) return new ContainerType(fieldsOf(type));
  if (type instanceof ProgressiveContainerType) return new ProgressiveContainerType(fieldsOf(type), type.activeFields);
  if (type instanceof ListBasicType) return new ListBasicType(convert(type.elementType) as AnyBasicType, type.limit);
  if (type instanceof ListCompositeType) return new ListCompositeType(exactType(type.elementType), type.limit);
  if (type instanceof VectorBasicType) {
    return new VectorBasicType(convert(type.elementType) as AnyBasicType, type.length);
  }
  if (type instanceof VectorCompositeType) return new VectorCompositeType(exactType(type.elementType), type.length);
  if (type instanceof ProgressiveListBasicType) {
    return new ProgressiveListBasicType(convert(type.elementType) as AnyBasicType);
  }
  if (type instanceof ProgressiveListCompositeType) {
    return new ProgressiveListCompositeType(exactType(type.elementType));
  }
  return type;
}

function fieldsOf({ fields }: { fields: Record<string, AnyType> }): Record<string, AnyType> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, convert(field)]));
}
