"""Words of the trade, and classes raised for everything: they say little about a cause."""

_TRADE = (
    "nil null none undefined missing error exception fail failure crash break raise throw return "
    "call caller check guard value key object field attribute method function code line file "
    "request response data record entry row table column default optional empty absent blank "
    "timeout connection retry production deploy test stack trace bug fix handle use user read "
    "write load find found look lookup know expect assume need exist add set pass come go reach "
    "service server client database query null-check type string number name path case condition "
    "old new wrong first second time day once long"
)
_RAISED_FOR_EVERYTHING = (
    "Error Exception Throwable StandardError RuntimeError RuntimeException NoMethodError "
    "NameError KeyError IndexError RangeError TypeError ValueError AttributeError ArgumentError "
    "LookupError ReferenceError SyntaxError AssertionError NotImplementedError ZeroDivisionError "
    "FrozenError NullPointerException IllegalStateException IllegalArgumentException "
    "ClassCastException IndexOutOfBoundsException ArrayIndexOutOfBoundsException "
    "UnsupportedOperationException NumberFormatException NoSuchElementException ErrorException "
    "LogicException errorString wrapError PanicError OSError IOException "
    "RecordNotFound RecordInvalid StatementInvalid DoesNotExist "
    "ValidationError HTTPError HttpError HTTPException HttpException HttpErrorResponse "
    "BaseException SystemException ApplicationException FatalError Fault InternalServerError "
    "RequestException ResponseError ClientError ServerError ServiceError ApiError APIError "
    "ApiException UnknownError GenericError UnhandledException InternalError"
)

TRADE_WORDS = frozenset(_TRADE.split())
# Classes that a language raises for everything: two of them in two places have nothing in common.
GENERIC_CLASSES = frozenset(_RAISED_FOR_EVERYTHING.split())
