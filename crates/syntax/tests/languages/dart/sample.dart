library shop.cart;

import 'dart:async';
import 'package:money/money.dart' as money show Amount;
export 'src/line.dart';
part 'cart.g.dart';

/// Most lines a cart takes.
const int maxLines = 99;
final _registry = <String, Cart>{}, _names = <String>[];
late final Logger log;

typedef PriceRule = Amount Function(Line line, {bool member});
typedef int Compare(Line a, Line b);

/// What happened to a line.
enum Change implements Comparable<Change> {
  added('+'),

  /// Taken out again.
  removed('-');

  const Change(this.sign);
  final String sign;

  @override
  int compareTo(Change other) => index - other.index;
}

mixin Discounting on Store {
  double discount = 0;

  Amount discounted(Amount amount) => amount * (1 - discount);
}

/// A customer's cart.
///
/// Saves itself when it changes.
@immutable
abstract class Cart<T extends Line> extends Store with Discounting, Notifier implements Sized {
  static const String storageKey = 'cart';
  final List<T> _lines;
  int? limit;

  Cart(this._lines, {this.limit, required Clock clock}) : super(clock) {
    _registry[storageKey] = this;
  }

  Cart.empty() : this(const [], clock: SystemClock());

  factory Cart.fromJson(Map<String, dynamic> json) {
    final lines = (json['lines'] as List).map(Line.parse).toList();
    return Cart._internal(lines);
  }

  /// Number of lines.
  int get length => _lines.length;

  set owner(String value) {
    _owner = value.trim();
  }

  // Adds a line and tells everyone.
  @override
  Future<bool> add(T line, [int? count]) async {
    if (_lines.length >= maxLines) return false;
    var position = _lines.indexOf(line);
    await store.write(line, position);
    notifyListeners();
    return true;
  }

  void checkout();

  T operator [](int index) => _lines[index];

  Stream<T> changes() async* {
    yield* _controller.stream;
  }

  external static int nativeCount();
}

extension CartTotals on Cart<Line> {
  Amount get total => fold(Amount.zero, (sum, line) => sum + line.price);
}

extension type CartId(String value) {
  bool get isGuest => value.isEmpty;
}

Amount totalOf(Iterable<Line> lines, {PriceRule? rule}) {
  return lines.map((line) => rule!(line)).reduce((a, b) => a + b);
}

int get cartCount => _registry.length;

void main() {
  group('cart', () {
    test('starts empty', () {
      expect(Cart.empty().length, equals(0));
    });
  });
}
